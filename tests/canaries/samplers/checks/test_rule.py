import pytest
from trials import RATES, WIDE, bundle, look

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.rule import planned
from draftgate.canaries.samplers.faults import innocent
from draftgate.canaries.samplers.rules import Shape

CHAIN = Shape()


def status(sampler, rule):
    (test,) = planned(bundle("zipf"), rule, CHAIN)
    return judge(test, look(sampler, "zipf"), RATES)


@pytest.mark.parametrize(("sampler", "rule"), [(innocent.token, "token"), (innocent.block, "block")])
def test_rounds_of_the_declared_rule_pass(sampler, rule):
    assert Status.PASS == status(sampler, rule).status


@pytest.mark.parametrize(
    ("sampler", "rule"), [(innocent.block, "token"), (innocent.token, "block"), (innocent.no_bonus, "token")]
)
def test_lossless_rounds_of_another_rule_are_a_miscount(sampler, rule):
    found = status(sampler, rule)

    assert (Status.FAIL, Reason.METRICS) == (found.status, found.reason)


def test_an_undeclared_rule_is_not_judged():
    assert [] == planned(bundle("zipf"), "unknown", CHAIN)


def test_many_outcomes_are_left_to_the_small_bundle():
    assert [] == planned(bundle("zipf", shape=WIDE), "token", CHAIN)
