"""What they change is real, and no answer of it."""

import pytest
from loads import made, suite

from draftgate.canaries.faults import innocent_load
from draftgate.canaries.observations.serving.played import load, requests, session, together
from draftgate.canaries.targets.strategies import Strategies


def served(plant=None, blocks=None):
    numbers, of = suite().serving, made(plant(Strategies()) if plant else None)
    opened = session(of.candidate, load(numbers, batch=3, blocks=blocks or numbers.blocks))
    return opened, opened.serve(together(requests(of, numbers, 8)))


@pytest.mark.parametrize(
    "plant", [innocent_load.other_blocks, innocent_load.shortest_first, innocent_load.forget_the_preempted]
)
def test_no_answer_changes(plant):
    _, honest = served()
    _, other = served(plant)

    assert [g.tokens for g in honest.generations] == [g.tokens for g in other.generations]


def test_blocks_are_half_as_large():
    opened, _ = served(innocent_load.other_blocks)

    assert suite().serving.block // 2 == opened.scheduler.memory.pool.size


def test_the_shortest_prompt_is_let_in_first():
    _, honest = served()
    _, other = served(innocent_load.shortest_first)

    assert honest.steps[0].admitted != other.steps[0].admitted


def test_a_row_that_comes_back_finds_less():
    _, honest = served(blocks=suite().serving.tight)
    _, other = served(innocent_load.forget_the_preempted, suite().serving.tight)

    assert sum(len(step.preempted) for step in honest.steps)
    assert sum(map(sum, (step.cached for step in other.steps))) < sum(map(sum, (step.cached for step in honest.steps)))
