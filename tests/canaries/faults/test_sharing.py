"""Drafters that remember what they must not: rounds change, tokens do not."""

import pytest
from loads import made, suite

from draftgate.canaries.faults import sharing
from draftgate.canaries.observations.serving.played import load, requests, session, together
from draftgate.canaries.targets.strategies import Strategies

PLANTS = {
    sharing.one_table_for_all: 1,
    sharing.draft_from_row_zero: 4,
    sharing.keep_the_call_before: 1,
}


def twice(strategies, batch):
    """The answers of two calls in one session."""
    numbers, of = suite().serving, made(strategies)
    opened = session(of.candidate, load(numbers, batch=batch))
    return [opened.serve(together(requests(of, numbers, 4))).generations for _ in range(2)]


def rounds(generations):
    return [[one[:2] for one in generation.rounds] for generation in generations]


@pytest.mark.parametrize("plant", PLANTS)
def test_tokens_stay_and_rounds_do_not(plant):
    honest, planted = twice(Strategies(), PLANTS[plant]), twice(plant(Strategies()), PLANTS[plant])

    assert [g.tokens for call in honest for g in call] == [g.tokens for call in planted for g in call]
    assert rounds(honest[0]) == rounds(honest[1])
    assert rounds(honest[1]) != rounds(planted[1])


def test_a_batch_of_one_is_drafted_for_from_its_own_row():
    honest, planted = twice(Strategies(), 1), twice(sharing.draft_from_row_zero(Strategies()), 1)

    assert rounds(honest[0]) == rounds(planted[0])
