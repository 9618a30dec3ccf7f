import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.stats.counts import cells_after_pooling, pool, pooled_mass
from tolerances import ROUNDING

LAW = [0.6, 0.36, 0.03, 0.01]


def random_law(seed, cells):
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(cells, 0.2))
    law[0] += 1 - law.sum()
    return law


def test_thin_cells_are_merged_at_the_end():
    counts, probs = pool([610, 350, 25, 15], LAW, floor=35)

    assert counts.tolist() == [610, 350, 40]
    assert probs == pytest.approx([0.6, 0.36, 0.04])


def test_a_merged_cell_still_too_thin_takes_the_smallest_other_in():
    counts, probs = pool([61, 35, 3, 1], LAW, floor=5)

    assert counts.tolist() == [61, 39]
    assert probs == pytest.approx([0.6, 0.4])


def test_with_enough_draws_nothing_is_merged():
    counts, probs = pool([600, 360, 30, 10], LAW, floor=5)

    assert counts.tolist() == [600, 360, 30, 10]
    assert probs == pytest.approx(LAW)


def test_cells_of_probability_zero_are_left_out():
    counts, probs = pool([50, 0, 50], [0.5, 0.0, 0.5], floor=5)

    assert counts.tolist() == [50, 50]
    assert probs.tolist() == [0.5, 0.5]


def test_a_draw_of_probability_zero_is_not_for_pooling():
    with pytest.raises(ValueError, match="cell 1 has probability 0 and was observed 1 times"):
        pool([50, 1, 50], [0.5, 0.0, 0.5], floor=5)


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), cells=st.integers(1, 40), n=st.integers(1, 5000), floor=st.sampled_from([5, 100])
)
def test_pooling_never_looks_at_the_counts(seed, cells, n, floor):
    law, rng = random_law(seed, cells), np.random.default_rng(seed)
    honest = pool(rng.multinomial(n, law), law, floor=floor)
    lopsided = pool(n * (np.arange(cells) == np.argmax(law)), law, floor=floor)

    assert honest.probs.tolist() == lopsided.probs.tolist()
    assert honest.probs.size == cells_after_pooling(law, n, floor=floor)


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), cells=st.integers(1, 40), n=st.integers(1, 5000), floor=st.sampled_from([5, 100])
)
def test_pooling_loses_no_draw_and_no_mass_and_leaves_no_thin_cell(seed, cells, n, floor):
    law = random_law(seed, cells)
    counts, probs = pool(np.random.default_rng(seed).multinomial(n, law), law, floor=floor)

    assert n == counts.sum()
    assert probs.sum() == pytest.approx(1, rel=ROUNDING)
    assert probs.size == 1 or (n * probs).min() >= floor * (1 - ROUNDING)


def test_the_merged_mass_is_known():
    assert pooled_mass(LAW, 100, floor=5) == pytest.approx(0.4)
    assert pooled_mass(LAW, 10_000, floor=5) == 0


@pytest.mark.parametrize("law", [[0.5, 0.4], [1.5, -0.5], [np.nan, 1.0], [[1.0]], []])
def test_what_is_no_law_is_refused(law):
    with pytest.raises(ValueError, match="not a law"):
        cells_after_pooling(law, 10, floor=5)


@pytest.mark.parametrize("counts", [[0.5, 1], [-1, 2], [np.nan, 1]])
def test_what_is_no_count_is_refused(counts):
    with pytest.raises(ValueError, match="whole and non-negative"):
        pool(counts, [0.5, 0.5], floor=5)


def test_counts_and_law_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="2 counts cannot be compared with 3 probabilities"):
        pool([1, 2], [0.2, 0.3, 0.5], floor=5)
