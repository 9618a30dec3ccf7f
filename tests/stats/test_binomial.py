import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from draftgate.stats.binomial import design, known_rate, lower_limit, upper_limit
from draftgate.stats.decision import Decision, decide
from tolerances import ROUNDING, TINY


def p_value(k, n, rate):
    return known_rate(k, n, rate=rate, hypothesis="h").p_value


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 60), rate=st.sampled_from((0.0, 1.0)) | st.floats(1e-12, 1 - 1e-12))  # scipy's pmf ends there
def test_a_p_value_of_a_or_less_comes_with_chance_a_at_most(n, rate):
    """Exactly: summed over all counts, not simulated."""
    values = [(p_value(k, n, rate), binom.pmf(k, n, rate)) for k in range(n + 1)]

    assert all(sum(mass for p, mass in values if p <= a) <= a * (1 + ROUNDING) + TINY for a, _ in values)


def test_a_count_far_out_on_either_side_has_a_small_p_value():
    assert p_value(50, 100, 0.5) == 1
    assert p_value(10, 100, 0.5) < 1e-15
    assert p_value(90, 100, 0.5) < 1e-15


@pytest.mark.parametrize("shift", [-1, 1])
def test_each_count_that_the_design_counts_as_found_fails(shift):
    plan = design(2000, rate=0.6, false_alarm=1e-6, miss=1e-6)
    found = round(2000 * (0.6 + shift * plan.detectable))

    assert decide(known_rate(found, 2000, rate=0.6, hypothesis="h"), plan, effect=plan.detectable) == Decision.FAIL
    assert decide(known_rate(1200, 2000, rate=0.6, hypothesis="h"), plan, effect=plan.detectable) == Decision.PASS


def test_one_success_at_a_rate_of_zero_is_proof():
    assert p_value(1, 1000, 0) == 0
    assert p_value(0, 1000, 0) == 1


def test_no_draws_give_no_p_value():
    assert math.isnan(p_value(0, 0, 0.5))


def test_zero_of_n_leaves_the_rate_that_would_have_shown():
    assert upper_limit(0, 1000, miss=0.05) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=ROUNDING)


@pytest.mark.parametrize("k", [0, 3, 20])
def test_limits_are_those_of_clopper_and_pearson(k):
    expected = binomtest(k, 20).proportion_ci(confidence_level=0.98)

    assert lower_limit(k, 20, miss=0.01) == pytest.approx(expected.low, rel=ROUNDING)
    assert upper_limit(k, 20, miss=0.01) == pytest.approx(expected.high, rel=ROUNDING)


def test_nothing_tried_bounds_nothing():
    assert lower_limit(0, 0, miss=0.01) == 0
    assert upper_limit(0, 0, miss=0.01) == 1


@pytest.mark.parametrize(("k", "n"), [(-1, 2), (3, 2)])
def test_counts_that_cannot_be_are_refused(k, n):
    with pytest.raises(ValueError, match="cannot be"):
        upper_limit(k, n, miss=0.1)


def test_a_rate_that_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="no probability"):
        p_value(1, 2, 1.5)
