"""The table of checks and the ledger that is split over them."""

import math

import pytest
from observed import case, record, suite

from draftgate.canaries.checks.base import entry
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.contracts import Status
from draftgate.suites import loader


@pytest.mark.parametrize(
    "name", [f"{row.name}/{row.version}" for row in loader.available() if "laws" not in row.canaries]
)
def test_every_required_check_exists(name):
    required = loader.load(name).required["reference"]

    assert {*required.greedy, *required.sampled} <= set(CHECKS)


def test_every_check_is_found_by_its_own_name():
    assert list(CHECKS) == [check.name for check in CHECKS.values()]


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_passes_on_an_empty_record(name):
    for cell in ("greedy", "sampled"):
        assert judge(CHECKS[name], case({}, cell)).status is Status.INCONCLUSIVE


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_passes_without_one_of_its_observations(name):
    for cell, needed in (("greedy", suite().required["reference"].greedy), ("sampled", CHECKS)):
        for observation in CHECKS[name].observes if name in needed else ():
            observations = record()
            observations.pop(f"{cell}/{observation}", None)
            observations.pop(observation, None)

            assert judge(CHECKS[name], case(observations, cell)).status is Status.INCONCLUSIVE


def test_the_shares_sum_to_the_suites_false_alarm_rate():
    smoke = loader.load("smoke")

    assert math.isclose(smoke.design.false_alarm, math.fsum(ledger(smoke, "reference").shares.values()))


def test_every_test_of_every_required_check_has_a_share():
    smoke = loader.load("smoke")
    shares = ledger(smoke, "reference").shares
    wanted = {
        entry(cell, check, test)
        for cell in smoke.cells
        for check in smoke.required["reference"].checks_for(cell)
        for test in CHECKS[check].tests(smoke, cell)
    }

    assert wanted == set(shares)
