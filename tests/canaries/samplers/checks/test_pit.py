import numpy as np
from trials import RATES, WIDE, bundle, look

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.pit import planned, uniforms
from draftgate.canaries.samplers.faults import innocent, rules


def statuses(sampler):
    seen = look(sampler, "zipf", shape=WIDE)
    return {judge(test, seen, RATES).status for test in planned(bundle("zipf", shape=WIDE))}


def test_an_honest_sampler_passes_at_every_position():
    assert {Status.PASS} == statuses(innocent.token)


def test_a_wrong_temperature_is_seen_at_every_position():
    assert {Status.FAIL} == statuses(rules.with_target(rules.tempered(1.3)))


def test_counts_become_as_many_numbers_within_their_tokens_reach():
    laws, counts = np.array([[0.2, 0.5, 0.3]]), np.array([[4, 0, 2]])
    found = uniforms(counts, laws, np.random.default_rng(0))

    assert 6 == len(found)
    assert 2 == ((found >= 0.5) & (found <= 0.8)).sum()
    assert 4 == (found >= 0.8).sum()


def test_few_outcomes_need_no_transform():
    assert [] == planned(bundle("zipf"))


def test_the_planned_rounds_are_enough():
    test = planned(bundle("zipf", shape=WIDE))[0]

    assert test.design(test.rounds(RATES), RATES).detectable <= RATES.effect
