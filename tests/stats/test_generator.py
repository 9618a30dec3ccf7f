"""What a sampler draws from the symbolic generator has the law that numpy's own has; the rest is refused by type."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from draftgate.stats.exact import paths
from draftgate.stats.generator import SymbolicGenerator
from draftgate.stats.rounding import RoundingRandomness
from draftgate.stats.symbolic import NotEnumerable

P = [Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 6)]
LAW = {token: mass for token, mass in enumerate(P) if mass}
EDGES = np.cumsum(np.array(P, dtype=object))


def law(run):
    found = {}
    for outcome, mass in paths(lambda chance: run(SymbolicGenerator(chance)), chance=RoundingRandomness):
        found[outcome] = found.get(outcome, 0) + mass
    return found


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: int(np.searchsorted(EDGES, rng.random())),
        lambda rng: int((rng.random() < EDGES).argmax()),
        lambda rng: int((rng.uniform(0, 6) < 6 * EDGES).argmax()),
        lambda rng: int((rng.uniform(1, 2) < 1 + EDGES).argmax()),
        lambda rng: rng.choice(4, p=P),
        lambda rng: rng.choice([0, 1, 2, 3], p=np.array(P, dtype=object)),
        lambda rng: int(rng.multinomial(1, P).argmax()),
        lambda rng: int(np.argmax(np.array(P, dtype=object) / rng.exponential(size=4))),
        lambda rng: int(np.argmax(np.array(P, dtype=object) / rng.standard_exponential(4))),
        lambda rng: (0, 0, 0, 2, 2, 3)[rng.integers(6)],
        lambda rng: (0, 0, 0, 2, 2, 3)[rng.integers(1, 6, endpoint=True) - 1],
    ],
)
def test_each_way_to_draw_has_the_same_law(draw):
    assert LAW == law(draw)


def test_gumbel_noise_draws_by_the_exponentials_of_the_logits():
    logits = np.log([1.0, 3.0])

    assert 0.75 == pytest.approx(float(law(lambda rng: int(np.argmax(logits + rng.gumbel(size=2))))[1]), rel=1e-12)


def test_arrays_hold_independent_numbers():
    found = law(lambda rng: tuple((rng.random((2, 2)) < Fraction(1, 2)).reshape(-1)))

    assert dict.fromkeys(found, Fraction(1, 16)) == found
    assert 16 == len(found)


def test_without_replacement_nothing_comes_twice():
    found = law(lambda rng: tuple(rng.choice(4, size=2, replace=False, p=P)))

    assert Fraction(1, 2) * Fraction(2, 3) == found[0, 2]
    assert all(a != b for a, b in found)


def test_without_weights_all_entries_are_alike():
    assert {"a": Fraction(1, 2), "b": Fraction(1, 2)} == law(lambda rng: rng.choice(["a", "b"]))


def test_what_is_no_law_is_refused_as_by_numpy():
    with pytest.raises(ValueError, match="do not sum to 1"):
        law(lambda rng: rng.choice(2, p=[0.5, 0.4]))
    with pytest.raises(ValueError, match="as many"):
        law(lambda rng: rng.choice(3, p=[0.5, 0.5]))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(),
        lambda rng: rng.permutation(3),
        lambda rng: rng.integers(2**62),
        lambda rng: rng.gumbel(scale=2),
        lambda rng: rng.multinomial(1, [1], size=2),
        lambda rng: rng.exponential() < 1,
        lambda rng: np.array([0.5, 0.5])[int(2 * rng.random())],
        lambda rng: np.array(rng.random(3), dtype=float),
    ],
)
def test_what_cannot_be_followed_is_refused(draw):
    with pytest.raises(NotEnumerable):
        law(draw)
