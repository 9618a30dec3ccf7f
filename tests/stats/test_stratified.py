"""Pearson over strata: right by hand, at its level, as strong as designed, and blind where it says so."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from draftgate.stats import stratified
from draftgate.stats.chi_square import STRICT_FLOOR, USUAL_FLOOR
from draftgate.stats.decision import Decision, decide
from tolerances import PEARSON_RATE, QUANTILE, ROUNDING, SURE

LAWS = ((0.5, 0.3, 0.2), (0.4, 0.3, 0.2, 0.1), (0.9, 0.1))
RATES = {"false_alarm": 1e-6, "miss": 1e-3}


def strata(counts, laws=LAWS, floor=USUAL_FLOOR, noise=0.0):
    return [stratified.against_law(c, law, floor=floor, noise=noise) for c, law in zip(counts, laws, strict=True)]


def test_one_stratum_is_pearsons_statistic_by_hand():
    (found,) = strata([[60, 20, 20]], LAWS[:1])

    assert found.statistic == pytest.approx(10**2 / 50 + 10**2 / 30)
    assert (3, 100, 100, 0) == (found.cells, found.n, found.weight, found.noise)


def test_the_sum_is_judged_on_the_sum_of_its_freedoms():
    listed = strata([[60, 20, 20], [30, 40, 20, 10]], LAWS[:2])

    found = stratified.evidence(listed, hypothesis="h", floor=USUAL_FLOOR)

    assert (200, 5) == (found.n, found.details["freedom"])
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 5))


def test_rare_outcomes_are_grouped_with_the_next_in_rank_and_the_rest_joins_the_last():
    """Expected 50, 26, 12, 8, 4: at 20 the groups are 50 | 26 | 24."""
    found = stratified.against_law([50, 26, 24, 0, 0], [0.5, 0.26, 0.12, 0.08, 0.04], floor=20, noise=0.0)
    other = stratified.against_law([0, 0, 24, 26, 50], [0.04, 0.08, 0.12, 0.26, 0.5], floor=20, noise=0.0)

    assert (3, 0.0) == (found.cells, found.statistic)
    assert other == found


def test_what_does_not_fill_a_second_group_shows_nothing():
    found = strata([[98, 2]], [(0.98, 0.02)])

    assert [1] == [one.cells for one in found]
    assert stratified.evidence(found, hypothesis="h", floor=USUAL_FLOOR).p_value == 1
    assert math.isinf(stratified.design(found, floor=USUAL_FLOOR, **RATES).detectable)


def test_no_draws_show_nothing():
    found = stratified.evidence(strata([[0, 0, 0]], LAWS[:1]), hypothesis="h", floor=USUAL_FLOOR)

    assert (0, True) == (found.n, math.isnan(found.p_value))


def test_an_outcome_without_mass_is_no_statistics():
    with pytest.raises(ValueError, match="an outcome of probability 0 was drawn 2 times; test the support"):
        stratified.against_law([3, 2], [1.0, 0.0], floor=USUAL_FLOOR, noise=0.0)


def test_two_arms_are_held_against_each_other_by_hand_and_alike_from_either_side():
    one, other = [60, 30, 10], [40, 40, 20]
    found = stratified.against_draws(one, other, floor=USUAL_FLOOR, noise=0.0)

    assert found.statistic == pytest.approx(20**2 / 100 + 10**2 / 70 + 10**2 / 30)
    assert (3, 100, 50) == (found.cells, found.n, found.weight)
    assert found == stratified.against_draws(other, one, floor=USUAL_FLOOR, noise=0.0)


def test_arms_of_unequal_draws_are_not_compared():
    with pytest.raises(ValueError, match="5 draws cannot be held against 4; make as many of both"):
        stratified.against_draws([5], [4], floor=USUAL_FLOOR, noise=0.0)


def test_a_strict_floor_doubles_the_p_value():
    listed = strata([[600, 200, 200]], LAWS[:1], floor=STRICT_FLOOR)
    usual, strict = (stratified.evidence(listed, hypothesis="h", floor=f) for f in (USUAL_FLOOR, STRICT_FLOOR))

    assert strict.p_value == pytest.approx(2 * usual.p_value)


def rejected(rng, draw, runs=4000, level=1e-2):
    found = [stratified.evidence(draw(rng), hypothesis="h", floor=USUAL_FLOOR).p_value for _ in range(runs)]
    return np.mean(np.array(found) <= level) / level


@pytest.mark.parametrize("two_arms", [False, True], ids=["against laws", "against draws"])
def test_an_honest_arm_is_rejected_as_often_as_is_said(two_arms):
    def draw(rng):
        made = [rng.multinomial(1000, law) for law in LAWS]
        if two_arms:
            others = [rng.multinomial(1000, law) for law in LAWS]
            pairs = zip(made, others, strict=True)
            return [stratified.against_draws(*pair, floor=STRICT_FLOOR, noise=0.0) for pair in pairs]
        return strata(made, floor=STRICT_FLOOR)

    spread = 5 / math.sqrt(4000 * 1e-2)  # five standard deviations of a rate of 1e-2 in 4000 runs
    assert rejected(np.random.default_rng(0), draw) <= PEARSON_RATE + spread


@pytest.mark.parametrize("two_arms", [False, True], ids=["against laws", "against draws"])
def test_a_fault_of_the_designed_size_is_found_and_an_honest_arm_is_not(two_arms):
    """Laws off by the whole effect each, in the direction that shows least: in proportion to p."""
    rates, effect, rng = {"false_alarm": SURE, "miss": SURE}, 0.1, np.random.default_rng(1)
    known, other = (0, 2) if two_arms else (2, 0)
    n = stratified.draws_each(effect, known, other, noise=0.0, least=300, step=4, floor=STRICT_FLOOR, **rates)
    for off, expected in ((0.0, Decision.PASS), (effect, Decision.FAIL)):
        made = [rng.multinomial(n, (0.5 + off, 0.3 * (1 - 2 * off), 0.2 * (1 - 2 * off))) for _ in range(2)]
        if two_arms:
            plain = [rng.multinomial(n, LAWS[0]) for _ in range(2)]
            pairs = zip(made, plain, strict=True)
            listed = [stratified.against_draws(*pair, floor=STRICT_FLOOR, noise=0.0) for pair in pairs]
        else:
            listed = strata(made, LAWS[:1] * 2, floor=STRICT_FLOOR)
        evidence = stratified.evidence(listed, hypothesis="h", floor=STRICT_FLOOR)
        design = stratified.design(listed, floor=STRICT_FLOOR, **rates)

        assert decide(evidence, design, effect=effect) is expected


def test_the_design_is_that_of_a_noncentral_chi_square():
    listed = strata([[500, 300, 200], [400, 300, 200, 100]], LAWS[:2])
    design = stratified.design(listed, floor=USUAL_FLOOR, **RATES)
    critical = chi2.isf(RATES["false_alarm"], 5)

    assert ncx2.cdf(critical, 5, 4 * 2000 * design.detectable**2) == pytest.approx(RATES["miss"], rel=1e-4)
    assert (2000, stratified.UNIT) == (design.n, design.effect_unit)


def test_a_stratum_that_shows_nothing_adds_no_strength():
    telling = strata([[500, 300, 200]], LAWS[:1])
    beside = [*telling, *strata([[999, 1]], [(0.999, 0.001)])]
    designs = [stratified.design(listed, floor=USUAL_FLOOR, **RATES).detectable for listed in (telling, beside)]

    assert designs[0] == pytest.approx(designs[1], rel=ROUNDING)


def test_noise_excuses_what_it_may_move_and_hides_as_much():
    counts, found, seen = [[560, 260, 180]], [], []
    for noise in (0.0, 1e-4, 1e-3, 1e-2):
        listed = strata(counts, LAWS[:1], noise=noise)
        found.append(stratified.evidence(listed, hypothesis="h", floor=USUAL_FLOOR).p_value)
        seen.append(stratified.design(listed, floor=USUAL_FLOOR, **RATES).detectable)

    assert all(a < b for a, b in pairwise(found))
    assert all(a < b for a, b in pairwise(seen))


def test_next_to_no_noise_is_none():
    counts = [[560, 260, 180]]
    ones, others = (
        stratified.design(strata(counts, LAWS[:1], noise=noise), floor=USUAL_FLOOR, **RATES) for noise in (0.0, 1e-17)
    )

    assert ones.detectable == pytest.approx(others.detectable, rel=QUANTILE)


@pytest.mark.parametrize("noise", [1.0, 1e300, math.inf])
def test_noise_as_large_as_a_law_leaves_nothing_to_see(noise):
    listed = strata([[1000, 0, 0]], LAWS[:1], noise=noise)

    assert stratified.evidence(listed, hypothesis="h", floor=USUAL_FLOOR).p_value == 1
    assert math.isinf(stratified.design(listed, floor=USUAL_FLOOR, **RATES).detectable)


def moved(law, errors):
    weights = law * np.exp(errors)
    return weights / weights.sum()


@pytest.mark.parametrize("logits", [0.01, 0.3, 2.0])
def test_no_errors_of_logits_take_a_law_further_than_is_said(logits):
    """Law by law, and for two tokens in a row, the errors of the second depending on the first."""
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        law = rng.dirichlet(np.full(5, 0.5))
        other = moved(law, rng.choice([0.0, logits], size=5))
        joint = np.outer(law, law)
        both = other[:, None] * np.stack([moved(law, rng.choice([0.0, logits], size=5)) for _ in law])
        found.append((((other - law) ** 2 / law).sum(), ((both - joint) ** 2 / joint).sum()))
    one, two = np.max(found, axis=0)

    assert 0.5 * stratified.divergence(logits, 1) < one <= stratified.divergence(logits, 1)
    assert one < two <= stratified.divergence(logits, 2)


def test_errors_without_bound_are_told_as_such():
    assert math.isinf(stratified.divergence(1e300, 4))
    assert stratified.divergence(0.0, 4) == 0


def test_an_engine_that_differs_by_noise_alone_is_rejected_no_oftener():
    logits, errors = 0.1, np.array([0.1, 0.0, 0.0])
    noise = stratified.divergence(logits, 1)

    def draw(rng):
        return strata([rng.multinomial(1000, moved(np.array(LAWS[0]), errors))], LAWS[:1], STRICT_FLOOR, noise)

    def unexcused(rng):
        return [one._replace(noise=0.0) for one in draw(rng)]

    assert rejected(np.random.default_rng(0), draw) <= 1 < rejected(np.random.default_rng(0), unexcused)


def test_draws_are_whole_calls_and_just_enough():
    plan = {"step": 8, "floor": STRICT_FLOOR, "noise": 0.0, **RATES}
    n = stratified.draws_each(0.1, 6, 0, least=300, **plan)
    designs = [
        stratified.design(
            strata([[draws // 2, draws - draws // 2]] * 6, [(0.5, 0.5)] * 6, floor=100), floor=100, **RATES
        )
        for draws in (300, n)
    ]

    assert n % 8 == 0
    assert designs[1].detectable <= 0.1 < designs[0].detectable
    assert n < stratified.draws_each(0.1, 0, 6, least=300, **plan)
    assert stratified.draws_each(0.9, 1, 0, least=299, **plan) == 304


def test_more_draws_are_made_for_noise_up_to_where_they_are_no_use():
    plan = {"least": 300, "step": 8, "floor": STRICT_FLOOR, **RATES}
    quiet, some, loud = (stratified.draws_each(0.1, 6, 0, noise=noise, **plan) for noise in (0.0, 1e-3, 0.5))

    assert quiet == loud < some <= stratified.MOST_FOR_NOISE * quiet


def test_no_strata_cannot_be_planned_for():
    with pytest.raises(ValueError, match=r"an effect of 0\.1 cannot be planned for in 0 strata"):
        stratified.draws_each(0.1, 0, 0, noise=0.0, least=300, step=8, floor=STRICT_FLOOR, **RATES)
