import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from transformers.generation.logits_process import (
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from draftgate.engine.errors import LogitsNotFinite
from draftgate.engine.request import Sampling
from draftgate.engine.sampling import draw, in_support, next_token_probs, normalised, one_hot, softmax
from draftgate.stats.chi_square import STRICT_FLOOR, design, draws, goodness_of_fit
from draftgate.stats.decision import Decision, decide
from tolerances import NUCLEUS_EDGE, ROUNDING, SURE

ALMOST_ONE = 1 - 2.0**-53
NAN, INF = float("nan"), float("inf")

grids = st.lists(st.integers(-24, 24), min_size=2, max_size=9).map(lambda steps: np.array(steps) / 4)
distinct = st.lists(st.integers(-24, 24), min_size=2, max_size=9, unique=True).map(lambda steps: np.array(steps) / 4)
samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 0.7, 1.0, 1.7]),
    top_k=st.integers(0, 10),
    top_p=st.sampled_from([0.0519, 0.3137, 0.5281, 0.8713, 0.9777, 1.0]),
    min_p=st.sampled_from([0.0, 0.0317, 0.1931, 0.7311, 1.0]),
)
uniforms = st.one_of(st.just(0.0), st.just(ALMOST_ONE), st.floats(0, 1, exclude_max=True))


def law(logits, sampling):
    return next_token_probs(np.asarray(logits, np.float64)[None, None], [sampling])[0, 0]


def share(weights):
    return [weight / math.fsum(weights) for weight in weights]


def by_hand(logits, sampling):
    """The same law written down once more, token by token: temperature, top-k, top-p, min-p."""
    if sampling.temperature == 0:
        first = list(logits).index(max(logits))
        return [float(token == first) for token in range(len(logits))]
    p = share([math.exp((x - max(logits)) / sampling.temperature) for x in logits])
    if sampling.top_k:
        p = share([x * (sum(y > x for y in p) < sampling.top_k) for x in p])
    if sampling.top_p < 1:
        kept, mass = set(), 0.0
        for token in sorted(range(len(p)), key=lambda t: (-p[t], t)):
            if mass < sampling.top_p:
                kept.add(token)
            mass += p[token]
        p = share([x * (token in kept) for token, x in enumerate(p)])
    return share([x * (x >= sampling.min_p * max(p)) for x in p])


def nucleus_is_clear(logits, sampling):
    """Whether rounding cannot decide which token the nucleus ends at."""
    p = -np.sort(-law(logits, Sampling(temperature=sampling.temperature, top_k=sampling.top_k)))
    return np.abs(p.cumsum() - sampling.top_p).min() > NUCLEUS_EDGE


@given(grids, samplings)
def test_the_law_is_the_one_written_down_by_hand(logits, sampling):
    assume(sampling.temperature == 0 or sampling.top_p == 1 or nucleus_is_clear(logits, sampling))

    assert by_hand(logits, sampling) == pytest.approx(law(logits, sampling).tolist(), rel=ROUNDING)


def test_another_order_of_the_filters_is_another_law():
    """Top-p of all four tokens keeps two; of the two that top-k leaves, renormalised, it keeps one."""
    logits = np.log([0.4, 0.3, 0.2, 0.1])
    top_k, top_p = Sampling(temperature=1.0, top_k=2), Sampling(temperature=1.0, top_p=0.5)
    with np.errstate(divide="ignore"):
        wrong = law(np.log(law(logits, top_p)), top_k)

    assert [1, 0, 0, 0] == law(logits, Sampling(temperature=1.0, top_k=2, top_p=0.5)).tolist()
    assert [4 / 7, 3 / 7, 0, 0] == pytest.approx(wrong.tolist(), rel=ROUNDING)


@given(distinct, samplings.filter(lambda s: s.temperature > 0))
def test_the_law_is_that_of_transformers_own_filters(logits, sampling):
    assume(sampling.top_p == 1 or nucleus_is_clear(logits, sampling))
    chain = [
        TemperatureLogitsWarper(sampling.temperature),
        *([TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []),
        *([TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []),
        *([MinPLogitsWarper(sampling.min_p)] if sampling.min_p else []),
    ]
    scores = torch.from_numpy(logits)[None]
    for warper in chain:
        scores = warper(None, scores)

    assert scores.softmax(-1)[0].tolist() == pytest.approx(law(logits, sampling).tolist(), rel=ROUNDING)


def test_ties_at_the_edge_of_top_k_are_all_kept():
    assert [0.25, 0.25, 0.25, 0.25, 0] == law([1, 1, 1, 1, 0], Sampling(temperature=1.0, top_k=2)).tolist()


def test_of_a_tie_at_the_edge_of_top_p_the_first_is_kept():
    assert [0.5, 0.5, 0, 0] == law([1, 1, 1, 1], Sampling(temperature=1.0, top_p=0.45)).tolist()


def test_a_nucleus_that_reaches_top_p_exactly_ends_there():
    exact, half = [0.0, -math.log(2), -math.log(2)], Sampling(temperature=1.0, top_p=0.5)

    assert [0.5, 0.25, 0.25] == law(exact, Sampling(temperature=1.0)).tolist()
    assert [1, 0, 0] == law(exact, half).tolist()
    assert not in_support(np.array(exact), 1, half, 0.0)
    assert in_support(np.array(exact), 1, half, 1e-9)


def test_greedy_is_a_point_mass_on_the_first_of_the_largest():
    assert [0, 1, 0, 0] == law([1, 3, 2, 3], Sampling()).tolist()


def test_greedy_pays_no_heed_to_filters():
    assert [0, 1, 0] == law([1, 3, 2], Sampling(top_k=2, top_p=0.1, min_p=0.5)).tolist()


@given(grids, st.floats(min_value=5e-324, max_value=1e300))
def test_any_positive_temperature_gives_a_law(logits, temperature):
    seen = law(logits, Sampling(temperature=temperature))

    assert 1 == pytest.approx(seen.sum(), rel=ROUNDING)
    assert (seen[logits == logits.max()] > 0).all()


def test_a_token_ruled_out_by_the_model_has_no_mass():
    assert [0.5, 0, 0.5] == law([1, -INF, 1], Sampling(temperature=0.7)).tolist()


@pytest.mark.parametrize("bad", [[0, NAN, 1], [0, INF, 1], [-INF, -INF, -INF], [NAN, NAN, NAN]])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_without_a_law_are_refused_with_their_place(bad, temperature):
    logits = np.zeros((3, 4, 3))
    logits[1, 2] = bad

    with pytest.raises(LogitsNotFinite, match=r"not finite \(row 1, position 2: largest is"):
        next_token_probs(logits, [Sampling(temperature=temperature)] * 3)


@given(st.lists(samplings, min_size=1, max_size=6), st.integers(0, 2**32))
def test_mixed_rows_in_a_batch_have_the_laws_they_have_alone(mixed, seed):
    logits = np.random.default_rng(seed).normal(0, 3, (len(mixed), 2, 7)).astype(np.float32)
    alone = [next_token_probs(logits[[row]], [sampling])[0] for row, sampling in enumerate(mixed)]

    assert np.array_equal(alone, next_token_probs(logits, mixed))


@given(st.lists(st.one_of(st.just(0.0), st.floats(0, 1)), min_size=1, max_size=9), uniforms)
def test_a_token_of_probability_zero_is_never_drawn(weights, uniform):
    assume(any(weights))
    probs = np.array(weights)

    assert probs[draw(probs, uniform)] > 0


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_a_batch_draws_what_its_rows_draw_alone(seed, rows):
    rng = np.random.default_rng(seed)
    probs, chance = rng.dirichlet(np.full(11, 0.3), rows), rng.random(rows)

    assert [int(draw(p, u)) for p, u in zip(probs, chance, strict=True)] == draw(probs, chance).tolist()


def test_the_first_token_whose_running_sum_exceeds_the_uniform_is_drawn():
    probs = np.array([0.25, 0.0, 0.5, 0.25])

    assert [0, 2, 2, 3, 3] == [int(draw(probs, u)) for u in (0.2499, 0.25, 0.7499, 0.75, ALMOST_ONE)]


def test_a_uniform_rounded_up_to_one_still_draws_a_token_of_the_law():
    assert 1 == draw(np.array([0.5, 0.5, 0.0]), 1.0)
    assert 1 == draw(np.array([0.1, 0.2, 0.0]), 1.0)


def test_draws_follow_the_law_and_draws_from_its_neighbour_do_not():
    probs, effect = np.array([0.5, 0.3, 0.0, 0.15, 0.05]), 0.05
    tilted = probs + effect * np.array([1, -1, 0, 0, 0])
    n = draws(probs, effect=effect, false_alarm=SURE, miss=SURE)
    plan = design(n, probs, false_alarm=SURE, miss=SURE)
    chance = np.random.default_rng(1).random(n)

    def judge(other):
        counts = np.bincount(draw(np.tile(other, (n, 1)), chance), minlength=5)
        fit = goodness_of_fit(counts, probs, hypothesis="draws follow their law", floor=STRICT_FLOOR)
        return decide(fit, plan, effect=effect)

    assert Decision.PASS == judge(probs)
    assert Decision.FAIL == judge(tilted)


@given(distinct, samplings, st.data())
def test_the_support_test_agrees_with_the_law_where_no_slack_is_given(logits, sampling, data):
    """Distinct logits only: of a tie the law may keep one, while the support test cannot know which was meant."""
    assume(sampling.temperature == 0 or sampling.top_p == 1 or nucleus_is_clear(logits, sampling))
    token = data.draw(st.integers(0, len(logits) - 1))

    assert (law(logits, sampling)[token] > 0) == in_support(logits, token, sampling, 0.0)


@given(grids, samplings, st.data())
def test_whatever_the_law_may_emit_is_in_the_support(logits, sampling, data):
    assume(sampling.temperature == 0 or sampling.top_p == 1 or nucleus_is_clear(logits, sampling))
    token = data.draw(st.integers(0, len(logits) - 1).filter(lambda t: law(logits, sampling)[t] > 0))

    assert in_support(logits, token, sampling, 0.0)


@pytest.mark.parametrize(
    ("sampling", "near", "far"),
    [
        (Sampling(), [1.0, 0.99], [1.0, 0.9]),
        (Sampling(temperature=1.0, top_k=1), [1.0, 0.99], [1.0, 0.9]),
        (Sampling(temperature=1.0, min_p=0.5), [math.log(2) + 0.01, 0], [math.log(2) + 0.1, 0]),
        (Sampling(temperature=1.0, top_p=0.6), np.log([0.604, 0.396]), np.log([0.7, 0.3])),
    ],
    ids=["greedy", "top_k", "min_p", "top_p"],
)
def test_slack_forgives_a_token_just_outside_the_edge_and_no_other(sampling, near, far):
    assert not in_support(np.array(near), 1, sampling, 0.0)
    assert in_support(np.array(near), 1, sampling, 0.02)
    assert not in_support(np.array(far), 1, sampling, 0.02)


def test_slack_moves_the_odds_of_a_nucleus_and_never_swallows_the_rest():
    """At a slack of 1.5 logits the edge of top-p 0.9 is 0.9758: a token behind 98 % of the mass is still outside."""
    half = Sampling(temperature=1.0, top_p=0.9)
    inside, outside = (np.log([mass, 1 - mass]) for mass in (0.97, 0.98))

    assert in_support(inside, 1, half, 1.5)
    assert not in_support(inside, 1, half, 0.0)
    assert not in_support(outside, 1, half, 1.5)


def test_softmax_does_not_overflow():
    assert [0.5, 0.5, 0] == softmax(np.array([1e308, 1e308, -1e308]) / 2).tolist()


def test_normalising_keeps_fractions_exact():
    weights = np.array([Fraction(1, 3), Fraction(1, 6)], dtype=object)

    assert [Fraction(2, 3), Fraction(1, 3)] == normalised(weights).tolist()


def test_a_law_without_mass_is_refused_even_beside_a_good_one():
    with pytest.raises(ZeroDivisionError, match="without mass"):
        normalised(np.array([[0.5, 0.5], [0.0, 0.0]]))


def test_point_masses_stand_where_the_tokens_are():
    assert [[0, 0, 1], [1, 0, 0]] == one_hot(np.array([2, 0]), 3).tolist()
