import math

import numpy as np
import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.samplers import plan
from draftgate.canaries.samplers.adapters.trees import BRANCHED
from draftgate.canaries.samplers.faults import drafts, innocent
from draftgate.canaries.samplers.interface import Adapted
from draftgate.suites import samplers
from tolerances import ROUNDING

SUITE = samplers.load()
BUNDLES = plan.bundles_of(SUITE, 0, innocent.token)


def planned(effect=0.05, **demands):
    return plan.plan(SUITE, BUNDLES, effect, plan.Demands(**demands))


def test_shares_sum_to_the_runs_rate_and_every_test_has_one():
    found = planned(rule="token", pair=True, reference=True)
    tests = [test for several in found.tests.values() for test in several]

    assert math.fsum(row.share for row in found.ledger.rows()) == pytest.approx(SUITE.design.false_alarm, rel=ROUNDING)
    assert all(found.rates(test).false_alarm > 0 for test in (*tests, found.independence))
    assert {"rule", "drafter"} <= {test.check for test in tests}


def test_every_test_finds_its_effect_with_the_planned_rounds():
    found = planned(rule="token")
    for name, tests in found.tests.items():
        for test in tests:
            rates = found.rates(test)
            assert test.design(found.rounds[name], rates).detectable <= rates.effect


def test_a_smaller_effect_takes_more_rounds():
    assert planned(0.05).total_rounds < planned(0.02).total_rounds


def test_an_undeclared_rule_is_not_judged():
    assert "rule" not in {test.check for tests in planned().tests.values() for test in tests}


def test_trees_set_the_depth_and_chosen_drafts_are_one_hot():
    tree = plan.bundles_of(SUITE, 0, innocent.multi_draft)
    chosen = plan.bundles_of(SUITE, 0, Adapted(call=innocent.token, chosen=True))

    assert {2} == {bundle.draft_length for bundle in tree}
    assert 2 == plan.depth_of(Adapted(call=innocent.token, parents=BRANCHED))
    assert {1.0} == {float(x) for problem in chosen[0].problems for q in problem.draft for x in q.max(axis=1)}


def test_distinct_siblings_find_enough_tokens():
    (first, *_) = plan.bundles_of(SUITE, 0, innocent.multi_draft_distinct)

    assert all((q > 0).all() for problem in first.problems for q in problem.draft)


def test_laws_follow_the_seed():
    other = plan.bundles_of(SUITE, 1, innocent.token)

    assert not np.array_equal(BUNDLES[0].problems[0].target[0], other[0].problems[0].target[0])


@pytest.mark.parametrize(("sampler", "rule"), [(drafts.honest_pair, "token"), (innocent.multi_draft, "block")])
def test_a_rule_that_cannot_be_judged_there_is_refused(sampler, rule):
    with pytest.raises(UsageError, match=f"--rule {rule}"):
        plan.Demands.of(sampler, rule, reference=False)
