import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from draftgate.stats.chi_square import goodness_of_fit
from draftgate.stats.design import (
    Design,
    binomial_detectable,
    chi_square_detectable,
    chi_square_draws,
    critical_counts,
    ks_detectable,
    ks_draws,
    rate_detectable,
    rate_draws,
)
from draftgate.stats.kolmogorov_smirnov import uniform_ks
from tolerances import PEARSON_RATE, QUANTILE, ROUNDING, SURE

RATES = st.floats(1e-9, 0.2)
EFFECTS = st.floats(1e-3, 1)
RUNS = 2000
TESTED = {"false_alarm": 1e-2, "miss": 1e-2}


def most(rate):
    """Events among RUNS that happen more often with chance SURE at most, if one run has chance `rate`."""
    return binom.isf(SURE, RUNS, rate)


def test_a_design_survives_json():
    said = Design(test="t", n=3, false_alarm=1e-6, miss=1e-3, detectable=math.inf, effect_unit="rate")

    assert said == Design.from_json(json.loads(json.dumps(said.to_json(), allow_nan=False)))


def test_a_distance_of_2_percent_over_64_cells_costs_88493_draws():
    assert chi_square_draws(0.02, 64, false_alarm=1e-6, miss=1e-3) == 88_493


def test_a_cdf_gap_of_1_percent_costs_290174_draws():
    assert ks_draws(0.01, false_alarm=1e-6, miss=1e-6) == 290_174


def test_zero_in_n_is_about_3_over_n_at_5_percent():
    assert rate_detectable(1000, miss=0.05) == pytest.approx(3 / 1000, rel=0.01)


@settings(deadline=None, max_examples=30)
@given(effect=EFFECTS, cells=st.integers(2, 500), false_alarm=RATES, miss=RATES)
def test_chi_square_draws_find_the_effect_and_one_tenth_fewer_do_not(effect, cells, false_alarm, miss):
    n = chi_square_draws(effect, cells, false_alarm=false_alarm, miss=miss)

    assert chi_square_detectable(n, cells, false_alarm=false_alarm, miss=miss) <= effect
    assert n <= 2 or chi_square_detectable(n * 9 // 10, cells, false_alarm=false_alarm, miss=miss) > effect


@settings(deadline=None)
@given(effect=EFFECTS, false_alarm=RATES, miss=RATES)
def test_ks_draws_find_the_effect_and_one_tenth_fewer_do_not(effect, false_alarm, miss):
    n = ks_draws(effect, false_alarm=false_alarm, miss=miss)

    assert ks_detectable(n, false_alarm=false_alarm, miss=miss) <= effect
    assert ks_detectable(n * 9 // 10, false_alarm=false_alarm, miss=miss) > effect


@settings(deadline=None)
@given(rate=EFFECTS, miss=RATES)
def test_a_fault_hides_among_the_designed_tokens_with_chance_miss_at_most(rate, miss):
    n = rate_draws(rate, miss=miss)

    assert (1 - rate) ** n <= miss * (1 + ROUNDING)
    assert n == 1 or (1 - rate) ** (n - 1) >= miss * (1 - ROUNDING)


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 3000), rate=st.floats(0, 1), false_alarm=RATES, miss=RATES)
def test_each_shift_of_the_detectable_size_is_found(n, rate, false_alarm, miss):
    shift = binomial_detectable(n, rate, false_alarm=false_alarm, miss=miss)
    low, high = critical_counts(n, rate, false_alarm=false_alarm)
    shifted = [r for r in (rate - shift, rate + shift) if 0 <= r <= 1]

    assert all(binom.cdf(high - 1, n, r) - binom.cdf(low, n, r) <= miss * (1 + QUANTILE) for r in shifted)


def test_a_smaller_shift_than_the_detectable_one_is_missed_more_often():
    shift = binomial_detectable(500, 0.3, **TESTED)
    low, high = critical_counts(500, 0.3, false_alarm=TESTED["false_alarm"])

    assert binom.cdf(high - 1, 500, 0.3 + 0.9 * shift) - binom.cdf(low, 500, 0.3 + 0.9 * shift) > TESTED["miss"]


def test_a_rate_of_zero_is_left_by_the_smallest_rate_that_shows_once():
    assert rate_detectable(200, miss=0.01) == pytest.approx(binomial_detectable(200, 0, false_alarm=1e-6, miss=0.01))


@pytest.mark.parametrize(
    "detectable",
    [
        chi_square_detectable(0, 5, **TESTED),
        chi_square_detectable(100, 1, **TESTED),
        chi_square_detectable(2, 64, **TESTED),
        ks_detectable(0, **TESTED),
        ks_detectable(2, **TESTED),
        rate_detectable(0, miss=0.01),
        binomial_detectable(0, 0.5, **TESTED),
        binomial_detectable(2, 0.5, **TESTED),
    ],
)
def test_where_nothing_can_be_seen_the_detectable_effect_is_infinite(detectable):
    assert math.inf == detectable


@pytest.mark.parametrize("rate", [0, 1, -1, math.nan])
def test_error_rates_that_no_test_has_are_refused(rate):
    with pytest.raises(ValueError, match="strictly between"):
        ks_draws(0.1, false_alarm=rate, miss=0.1)


@pytest.mark.parametrize("effect", [0, 1.1, math.nan])
def test_effects_that_no_fault_has_are_refused(effect):
    with pytest.raises(ValueError, match="effect"):
        chi_square_draws(effect, 4, false_alarm=0.1, miss=0.1)


def chi_square_alarms(law, n, rng):
    level = TESTED["false_alarm"]
    uniform = np.full(law.size, 1 / law.size)
    return sum(
        goodness_of_fit(counts, uniform, hypothesis="uniform", floor=5).p_value <= level
        for counts in rng.multinomial(n, law, size=RUNS)
    )


def test_chi_square_keeps_both_of_its_rates():
    """The designed effect, in the uniform law where a distance shows least; half of it is missed far more often."""
    rng, cells, effect = np.random.default_rng(1), 8, 0.1
    n = chi_square_draws(effect, cells, **TESTED)
    uniform, tilt = np.full(cells, 1 / cells), np.tile([1.0, -1.0], cells // 2) * 2 / cells

    assert chi_square_alarms(uniform, n, rng) <= most(PEARSON_RATE * TESTED["false_alarm"])
    assert RUNS - chi_square_alarms(uniform + effect * tilt, n, rng) <= most(PEARSON_RATE * TESTED["miss"])
    assert RUNS - chi_square_alarms(uniform + effect / 2 * tilt, n, rng) > most(10 * TESTED["miss"])


def ks_alarms(moved, n, rng):
    """Alarms where the lowest `moved` of the mass sits at the top instead: a CDF gap of just that."""
    values = rng.random((RUNS, n))
    values[values < moved] = 1.0
    return sum(uniform_ks(row, hypothesis="uniform").p_value <= TESTED["false_alarm"] for row in values)


def test_ks_keeps_both_of_its_rates():
    rng, effect = np.random.default_rng(2), 0.2
    n = ks_draws(effect, **TESTED)

    assert ks_alarms(0, n, rng) <= most(TESTED["false_alarm"])
    assert RUNS - ks_alarms(effect, n, rng) <= most(TESTED["miss"])
    assert RUNS - ks_alarms(effect / 4, n, rng) > most(10 * TESTED["miss"])
