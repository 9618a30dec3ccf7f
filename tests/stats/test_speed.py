import math

import numpy as np
import pytest
from scipy.stats import binom

from draftgate.stats.speed import paired_ratio
from tolerances import COVERAGE_LOSS, ROUNDING, SURE


def compare(baseline, candidate, *, confidence=0.95, resamples=400, seed=1):
    rng = np.random.default_rng(seed)
    return paired_ratio(baseline, candidate, confidence=confidence, resamples=resamples, rng=rng)


def test_half_the_time_is_twice_as_fast_without_doubt():
    seen = compare([2.0, 4.0, 10.0], [1.0, 2.0, 5.0])

    assert pytest.approx([seen.ratio, seen.low, seen.high, seen.ratio_of_totals], rel=ROUNDING) == [2, 2, 2, 2]
    assert seen.pairs == 3


def test_a_slower_candidate_is_reported_as_slower():
    seen = compare([1.0, 1.1, 0.9] * 5, [1.25, 1.4, 1.1] * 5)

    assert seen.high < 1


def test_twice_as_fast_and_half_as_fast_are_even():
    assert compare([2.0, 1.0], [1.0, 2.0]).ratio == pytest.approx(1, rel=ROUNDING)


def test_long_prompts_weigh_in_the_totals_only():
    seen = compare([100.0, 1.0], [50.0, 1.0])

    assert seen.ratio == pytest.approx(math.sqrt(2), rel=ROUNDING)
    assert seen.ratio_of_totals == pytest.approx(101 / 51, rel=ROUNDING)


def test_repeats_do_not_pose_as_prompts():
    times = np.random.default_rng(2).lognormal(0.4, 0.3, size=10)
    once = compare(times, np.ones(10))
    often = compare(np.tile(times[:, None], 50), np.ones((10, 50)))
    posing = compare(np.tile(times, 50), np.ones(500))

    assert [once.low, once.high] == pytest.approx([often.low, often.high], rel=ROUNDING)
    assert often.pairs == 10
    assert posing.high - posing.low < (often.high - often.low) / 3


def test_swapping_the_arms_turns_the_ratio_over():
    baseline, candidate = np.random.default_rng(3).lognormal(size=(2, 12))
    there, back = compare(baseline, candidate), compare(candidate, baseline)

    assert there.ratio == pytest.approx(1 / back.ratio, rel=ROUNDING)
    assert [there.low, there.high] == pytest.approx([1 / back.high, 1 / back.low], rel=ROUNDING)


def test_the_interval_covers_the_true_ratio_as_often_as_it_says():
    """Ten prompts, log ratios with spread 0.3; fewer hits than this come with chance SURE."""
    rng, runs = np.random.default_rng(4), 1000
    times = np.exp(rng.normal(math.log(1.8), 0.3, size=(runs, 10)))
    intervals = [compare(row, np.ones(10), seed=seed) for seed, row in enumerate(times)]
    hits = sum(seen.low <= 1.8 <= seen.high for seen in intervals)

    assert hits >= binom.ppf(SURE, runs, 0.95 - COVERAGE_LOSS)


def test_one_prompt_says_nothing_about_others():
    seen = compare([3.0], [2.0])

    assert [0, math.inf] == [seen.low, seen.high]
    assert seen.ratio == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [([], []), ([1.0, 0.0], [1.0, 1.0]), ([1.0, -2.0], [1.0, 1.0]), ([1.0, math.nan], [1.0, 1.0]), ([1.0], [math.inf])],
    ids=["empty", "zero", "negative", "nan", "infinite"],
)
def test_times_that_are_none_are_refused(baseline, candidate):
    with pytest.raises(ValueError, match="times must"):
        compare(baseline, candidate)


def test_a_missing_pair_is_refused():
    with pytest.raises(ValueError, match="in pairs"):
        compare([1.0, 2.0], [1.0])


@pytest.mark.parametrize(("confidence", "resamples"), [(0, 100), (1, 100), (0.9, 0)])
def test_an_interval_that_cannot_be_made_is_refused(confidence, resamples):
    with pytest.raises(ValueError, match="confidence"):
        compare([1.0, 2.0], [1.0, 1.0], confidence=confidence, resamples=resamples)
