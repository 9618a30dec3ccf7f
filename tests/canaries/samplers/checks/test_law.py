import pytest
from trials import RATES, WIDE, bundle, look

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.law import LawTest, SupportTest, planned
from draftgate.canaries.samplers.faults import chance, innocent, rules


def verdicts(sampler, *names, shape, calls=40):
    seen = look(sampler, *names, shape=shape, calls=calls)
    return {(t.check, t.cell): judge(t, seen, RATES).status for t in planned(bundle(*names, shape=shape))}


@pytest.mark.parametrize("shape", [(3, 2, 3), WIDE])
def test_an_honest_sampler_passes(shape):
    assert {Status.PASS} == set(verdicts(innocent.token, "zipf", shape=shape).values())


def test_whole_outcomes_show_what_joins_positions():
    shared = chance.with_uniforms(chance.shared_by_positions)

    assert Status.FAIL == verdicts(shared, "chosen", shape=(3, 2, 3))["joint", "small/chosen"]


def test_classes_show_it_where_outcomes_are_too_many():
    shared = chance.with_uniforms(chance.shared_by_positions)
    found = verdicts(shared, "chosen", shape=WIDE)

    assert Status.FAIL == found["classes", "small/chosen"]


def test_marginals_name_the_position():
    found = verdicts(rules.with_target(rules.sharp_first), "zipf", shape=WIDE)

    assert Status.FAIL == found["marginal", "small/zipf/1"]


@pytest.mark.parametrize("shape", [(3, 2, 3), WIDE])
def test_one_forbidden_token_is_proof(shape):
    found = verdicts(rules.with_target(rules.unfiltered), "zeros", shape=shape)

    assert Status.FAIL == found["support", "small/zeros"]


def test_a_law_without_choice_has_only_its_support_to_test():
    found = planned(bundle("greedy"))

    assert [SupportTest] == [type(t) for t in found]
    assert Status.PASS == judge(found[0], look(innocent.token, "greedy"), RATES).status


def test_a_large_vocabulary_has_no_cell_for_each_token():
    found = planned(bundle("zipf", shape=(100, 1, 2)))

    assert {"support", "classes"} == {t.check for t in found}


def test_the_planned_rounds_are_enough():
    law = bundle().problems[0].joint()
    test = LawTest("joint", "small", "small/zipf", 0, law)

    assert test.design(test.rounds(RATES), RATES).detectable <= RATES.effect
