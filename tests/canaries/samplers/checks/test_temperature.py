import numpy as np
import pytest
from trials import WIDE, bundle, look

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks.base import Rates, judge
from draftgate.canaries.samplers.checks.temperature import planned, tempered
from draftgate.canaries.samplers.faults import innocent, rules
from tolerances import ROUNDING, SURE

RATES = Rates(SURE, SURE, 0.05)
(TEST,) = planned(bundle("zipf", shape=WIDE), 0.01, 0.5)


def found(sampler):
    return judge(TEST, look(sampler, "zipf", shape=WIDE, calls=80), RATES)


def test_the_right_temperature_passes_and_lies_in_its_interval():
    seen = found(innocent.token)

    assert Status.PASS == seen.status
    assert seen.evidence[0]["details"]["low"] <= 1 <= seen.evidence[0]["details"]["high"]


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_wrong_one_is_estimated_and_1_lies_outside(factor):
    seen = found(rules.with_target(rules.tempered(factor)))
    details = seen.evidence[0]["details"]

    assert Status.FAIL == seen.status
    assert factor == pytest.approx(details["temperature"], abs=0.03)
    assert details["low"] <= factor <= details["high"]
    assert not details["low"] <= 1 <= details["high"]


def test_the_planned_rounds_are_enough_and_half_of_them_are_not():
    n = TEST.rounds(RATES)

    assert TEST.design(n, RATES).detectable <= RATES.effect
    assert TEST.design(n // 2, RATES).detectable > RATES.effect


def test_a_law_at_its_own_temperature_stays():
    law = np.array([0.1, 0.2, 0.7, 0.0])

    assert tempered(law, 1.0) == pytest.approx(law, rel=ROUNDING)
    assert tempered(law, 0.5) == pytest.approx(np.array([0.01, 0.04, 0.49, 0]) / 0.54, rel=ROUNDING)
    assert tempered(law, 2.0)[3] == 0


def test_few_outcomes_have_no_temperature_test():
    assert [] == planned(bundle("zipf"), 0.01, 0.5)
