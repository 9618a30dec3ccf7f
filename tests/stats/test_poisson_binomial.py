import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from draftgate.stats.decision import Decision, decide
from draftgate.stats.poisson_binomial import design, excess
from tolerances import QUANTILE, ROUNDING, SURE, TINY

RATES = st.lists(st.one_of(st.floats(0, 1), st.just(0.0), st.just(1.0)), min_size=1, max_size=12)


def p_value(observed, rates):
    return excess(observed, rates, hypothesis="forks do not exceed the census").p_value


def tail_by_subsets(observed, rates):
    """The upper tail, place by place, with nothing merged or cut."""
    law = np.ones(1)
    for rate in rates:
        law = np.convolve(law, [1 - rate, rate])
    return law[observed:].sum()


@settings(deadline=None)
@given(rates=RATES, data=st.data())
def test_the_p_value_is_the_exact_upper_tail(rates, data):
    observed = data.draw(st.integers(0, len(rates)))

    assert p_value(observed, rates) == pytest.approx(tail_by_subsets(observed, rates), rel=ROUNDING, abs=TINY)


@pytest.mark.parametrize("observed", [0, 1, 12, 40])
def test_equal_rates_make_it_binomial_far_into_the_tail(observed):
    expected = binom.sf(observed - 1, 5000, 1e-3)

    assert p_value(observed, np.full(5000, 1e-3)) == pytest.approx(expected, rel=ROUNDING)


def test_larger_rates_only_make_it_more_lenient():
    assert p_value(5, [0.1] * 20) < p_value(5, [0.1] * 19 + [0.2])


def test_a_fork_where_none_can_be_is_proof():
    assert p_value(1, [0.0, 0.0]) == 0
    assert p_value(0, [0.0, 0.0]) == 1


def test_no_places_give_no_p_value():
    assert math.isnan(p_value(0, []))


def test_the_predicted_number_passes_and_the_designed_excess_fails():
    """At these rates right code fails this test with chance 2e-6."""
    rng = np.random.default_rng(7)
    rates = rng.choice([0.0, 1e-4, 0.02], size=20_000, p=[0.8, 0.19, 0.01])
    plan = design(rates, false_alarm=SURE, miss=SURE)
    honest = rng.random(rates.size) < rates
    faulty = honest | (rng.random(rates.size) < plan.detectable)

    def judge(forks):
        return decide(excess(forks.sum(), rates, hypothesis="h"), plan, effect=plan.detectable)

    assert judge(honest) == Decision.PASS
    assert judge(faulty) == Decision.FAIL


def test_without_allowed_forks_the_design_is_that_of_a_fault_that_shows_once():
    assert design(np.zeros(500), false_alarm=1e-6, miss=1e-3).detectable == pytest.approx(1 - 1e-3 ** (1 / 500))


def test_the_designed_excess_is_missed_with_the_stated_chance():
    plan = design(np.full(300, 0.01), false_alarm=1e-3, miss=1e-2)
    critical = next(k for k in range(300) if binom.sf(k - 1, 300, 0.01) <= 1e-3)
    rate = 1 - 0.99 * (1 - plan.detectable)

    assert binom.cdf(critical - 1, 300, rate) == pytest.approx(1e-2, rel=QUANTILE)


@pytest.mark.parametrize("rates", [[], [0.5, 0.5]])
def test_places_too_few_to_show_anything_have_no_detectable_rate(rates):
    assert math.inf == design(rates, false_alarm=1e-6, miss=1e-3).detectable


@pytest.mark.parametrize("rates", [[1.5], [-0.1], [math.nan]])
def test_rates_that_are_none_are_refused(rates):
    with pytest.raises(ValueError, match="must lie in"):
        p_value(0, rates)


def test_more_events_than_places_are_refused():
    with pytest.raises(ValueError, match="cannot be"):
        p_value(3, [0.5, 0.5])
