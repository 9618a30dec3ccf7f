from trials import RATES, WIDE, bundle, look

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.bound import planned
from draftgate.canaries.samplers.faults import innocent, rules


def found(sampler, calls=40):
    (test,) = planned(bundle("zipf"))
    return judge(test, look(sampler, "zipf", calls=calls), RATES)


def test_every_lossless_rule_stays_below_the_bound():
    for sampler in (innocent.token, innocent.block, innocent.ignore_draft):
        assert Status.PASS == found(sampler).status


def test_more_than_any_lossless_rule_can_accept_is_a_miscount():
    seen = found(rules.accept_everything)

    assert (Status.FAIL, Reason.METRICS) == (seen.status, seen.reason)
    assert seen.evidence[0]["details"]["accepted"] == 2


def test_the_planned_rounds_are_enough():
    (test,) = planned(bundle("zipf"))

    assert test.design(test.rounds(RATES), RATES).detectable <= RATES.effect


def test_no_rounds_never_pass():
    assert Status.INCONCLUSIVE == found(innocent.token, calls=0).status


def test_laws_that_forget_have_no_table_for_the_bound():
    assert [] == planned(bundle("zipf", shape=WIDE))
