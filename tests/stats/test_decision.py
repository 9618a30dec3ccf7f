import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.stats.decision import Decision, decide
from draftgate.stats.design import Design
from draftgate.stats.evidence import Evidence

NUMBERS = st.one_of(st.floats(0, 1), st.just(math.nan), st.just(math.inf))


def evidence(*, n=1000, statistic=1.0, p_value=0.5):
    return Evidence(test="t", hypothesis="h", n=n, statistic=statistic, p_value=p_value)


def design(*, n=1000, false_alarm=1e-6, miss=1e-3, detectable=0.02):
    return Design(test="t", n=n, false_alarm=false_alarm, miss=miss, detectable=detectable, effect_unit="rate")


def test_all_draws_made_and_nothing_found_is_a_pass():
    assert decide(evidence(), design(), effect=0.02) == Decision.PASS


def test_a_p_value_at_the_share_is_a_fail():
    assert decide(evidence(p_value=1e-6), design(), effect=0.02) == Decision.FAIL


def test_a_fail_may_come_before_all_draws_are_made():
    assert decide(evidence(n=1, p_value=0.0), design(), effect=0.02) == Decision.FAIL


def test_a_pass_may_not_come_before_all_draws_are_made():
    assert decide(evidence(n=999), design(), effect=0.02) == Decision.INCONCLUSIVE


def test_a_design_too_weak_for_the_effect_passes_nothing():
    assert decide(evidence(), design(detectable=0.021), effect=0.02) == Decision.INCONCLUSIVE


def test_no_draws_decide_nothing_even_with_a_p_value():
    assert decide(evidence(n=0, p_value=0.0), design(n=0), effect=0.02) == Decision.INCONCLUSIVE
    assert decide(evidence(n=0, p_value=1.0), design(n=0), effect=0.02) == Decision.INCONCLUSIVE


@pytest.mark.parametrize(
    ("seen", "planned", "effect"),
    [
        (evidence(p_value=math.nan), design(), 0.02),
        (evidence(statistic=math.nan), design(), 0.02),
        (evidence(), design(detectable=math.nan), 0.02),
        (evidence(), design(false_alarm=math.nan), 0.02),
        (evidence(), design(miss=math.nan), 0.02),
        (evidence(), design(), math.nan),
    ],
)
def test_a_nan_anywhere_is_inconclusive(seen, planned, effect):
    assert decide(seen, planned, effect=effect) == Decision.INCONCLUSIVE


@given(n=st.integers(0, 20), needed=st.integers(0, 20), p_value=st.floats(0, 1), detectable=NUMBERS, effect=NUMBERS)
def test_a_pass_always_has_its_draws_and_its_power(n, needed, p_value, detectable, effect):
    finding = decide(evidence(n=n, p_value=p_value), design(n=needed, detectable=detectable), effect=effect)
    earned = 0 < n >= needed and detectable <= effect and p_value > 1e-6

    assert earned == (finding == Decision.PASS)
