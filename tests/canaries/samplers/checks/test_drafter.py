import pytest
from trials import RATES, bundle, look

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.drafter import planned
from draftgate.canaries.samplers.faults import drafts, innocent
from draftgate.canaries.samplers.interface import Drafted, Pair


def found(pair):
    (test,) = planned(bundle())
    return judge(test, look(pair), RATES)


@pytest.mark.parametrize("pair", [drafts.honest_pair, drafts.chosen_pair])
def test_a_drafter_that_reports_its_law_passes(pair):
    assert Status.PASS == found(pair).status


@pytest.mark.parametrize("drafter", [drafts.likeliest, drafts.drawn_filtered])
def test_a_drafter_that_draws_from_another_law_is_seen(drafter):
    assert Status.FAIL == found(Pair(drafter, innocent.token)).status


def test_one_token_that_had_no_chance_is_proof():
    def impossible(probs, generator):
        honest = drafts.drawn(probs, generator)
        tokens = honest.tokens.clone()
        tokens[0] = (tokens[0] + 1) % probs.shape[1]
        reported = honest.probs.clone()
        reported[0] = 0
        reported[0, honest.tokens[0]] = 1
        return Drafted(tokens, reported)

    assert 0 == found(Pair(impossible, innocent.ignore_draft)).evidence[0]["p_value"]


def test_the_planned_rounds_are_enough():
    (test,) = planned(bundle())

    assert test.design(test.rounds(RATES), RATES).detectable <= RATES.effect
