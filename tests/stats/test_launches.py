"""An interval over launches covers what one over prompts alone does not."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from draftgate.stats.launches import across_launches
from draftgate.stats.speed import Ratio, paired_ratio
from tolerances import COVERAGE_LOSS, ROUNDING, SURE

TRUE, PROMPTS, RUNS = 1.8, 20, 1000
OF_PROMPTS, OF_LAUNCHES = 0.1, 0.1  # standard deviations of log ratios: between prompts, and between launch pairs


def plain(logs, seed=1):
    rng = np.random.default_rng(seed)
    return paired_ratio(np.exp(logs), np.ones_like(logs), confidence=0.95, resamples=400, rng=rng)


def across(logs, pairs):
    """Prompts dealt alternately to launch pairs, as (prompts,) log ratios."""
    means = [logs[pair::pairs].mean() for pair in range(pairs)]
    return across_launches(plain(logs), means, confidence=0.95)


def hits(interval, pairs, spread=OF_LAUNCHES, prompts=PROMPTS):
    """How many of RUNS intervals cover the true ratio when each launch pair has a speed of its own."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(RUNS):
        launches = rng.normal(0, spread, pairs)
        logs = math.log(TRUE) + rng.normal(0, OF_PROMPTS, prompts) + np.resize(launches, prompts)
        seen = interval(logs)
        found += seen.low <= TRUE <= seen.high
    return found


@pytest.mark.parametrize(("pairs", "prompts"), [(2, PROMPTS), (2, 7), (4, PROMPTS)])
def test_the_interval_over_launches_covers_the_true_ratio_as_often_as_it_says(pairs, prompts):
    assert hits(lambda logs: across(logs, pairs), pairs, prompts=prompts) >= binom.ppf(SURE, RUNS, 0.95)


def test_it_also_does_where_launches_make_no_difference():
    assert hits(lambda logs: across(logs, 2), 2, spread=0.0) >= binom.ppf(SURE, RUNS, 0.95)


def test_an_interval_over_prompts_alone_does_not():
    assert hits(plain, 2) < binom.ppf(SURE, RUNS, 0.95 - COVERAGE_LOSS)


def test_launches_that_agree_leave_the_interval_as_it_was():
    before = plain(np.array([0.1, 0.2, 0.3, 0.4]))
    after = across_launches(before, [0.25, 0.25], confidence=0.95)

    assert [before.low, before.high] == pytest.approx([after.low, after.high], rel=ROUNDING)


def test_two_launches_one_percent_apart_leave_six_percent_on_either_side():
    before = Ratio(ratio=1.5, low=1.5, high=1.5, ratio_of_totals=1.5, pairs=9)
    after = across_launches(before, [math.log(1.5) - 0.005, math.log(1.5) + 0.005], confidence=0.95)

    assert math.log(after.high / 1.5) == pytest.approx(0.0635, rel=1e-3)
    assert after.ratio / after.low == pytest.approx(after.high / after.ratio, rel=ROUNDING)


def test_sides_are_added_in_quadrature_each_for_itself():
    before = Ratio(ratio=1.0, low=math.exp(-0.3), high=math.exp(0.4), ratio_of_totals=1.0, pairs=9)
    half = 0.3 / 12.706204736174694  # of the difference between two launches; t at 95 % and one degree of freedom
    after = across_launches(before, [-half, half], confidence=0.95)

    assert [math.log(after.low), math.log(after.high)] == pytest.approx([-math.hypot(0.3, 0.3), 0.5])


def test_one_prompt_still_says_nothing_about_others():
    before = plain(np.array([0.5]))

    assert (0, math.inf) == (before.low, before.high)
    assert (0, math.inf) == tuple(
        getattr(across_launches(before, [0.1, 0.9], confidence=0.95), e) for e in ("low", "high")
    )


def test_launches_that_are_far_apart_end_in_no_overflow():
    after = across_launches(plain(np.array([0.1, 0.2])), [-400.0, 400.0], confidence=0.95)

    assert (0, math.inf) == (after.low, after.high)


@pytest.mark.parametrize("logs", [[], [0.1], [0.1, math.nan], [[0.1, 0.2]]])
def test_fewer_than_two_launch_pairs_are_refused(logs):
    with pytest.raises(ValueError, match="two launch pairs or more"):
        across_launches(plain(np.array([0.1, 0.2])), logs, confidence=0.95)


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(ValueError, match="confidence 1 must"):
        across_launches(plain(np.array([0.1, 0.2])), [0.1, 0.2], confidence=1)
