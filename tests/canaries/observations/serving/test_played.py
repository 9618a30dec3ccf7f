"""What scenarios are made of."""

from loads import made, suite

from draftgate.canaries.observations.serving.played import (
    begun,
    company,
    load,
    met,
    requests,
    session,
    staggered,
    together,
)
from draftgate.engine.request import Generation
from draftgate.engine.scheduling.records import Blocks, Served, StepRecord


def step(number, **told):
    given = {"rows": 0, "waiting": 0, "length": 0, "filled": 0, "blocks": Blocks(0, 0, 0)}
    given |= dict.fromkeys(("admitted", "preempted", "finished", "cancelled", "cached"), ())
    return StepRecord(step=number, **given | told)


STEPS = (
    step(0, rows=1, length=4, filled=9, admitted=("a",), cached=(3,)),
    step(1, rows=2, length=0, preempted=("a",)),
    step(2, rows=0, length=4),
    step(3, rows=2, length=4, filled=1, admitted=("a",), cached=(8,), cancelled=("b",)),
)


def served(left):
    return Served(generations=(), steps=STEPS, peak=left, left=left)


def test_every_other_canary_has_words_of_its_own_and_needles_are_left_out():
    numbers = suite().serving
    listed = company(suite(), numbers, 12)

    assert [canary.kind == "identifiers" for canary in listed] == [True, False] * 6
    assert not {canary.id for canary in company(suite(), numbers, 500)} & {"needle-1"}


def test_requests_arrive_together_or_so_many_a_step():
    asked = requests(made(), suite().serving, 5)

    assert [job.arrives for job in together(asked)] == [0] * 5
    assert [job.arrives for job in staggered(asked, 2)] == [0, 0, 1, 1, 2]


def test_what_was_met_is_counted_from_the_steps():
    expected = {"rows": 2, "passes": 2, "preempted": 1, "cancelled": 1, "hits": 11, "crossings": 2, "left": 0}

    assert expected == met(served(Blocks(7, 0, 7)))
    assert 3 == met(served(Blocks(7, 2, 6)))["left"]
    assert {"a": 3} == begun(served(Blocks(0, 0, 0)))


def test_a_session_answers_what_is_asked():
    of, numbers = made(), suite().serving
    (asked,) = requests(of, numbers, 1)
    (answer,) = session(of.candidate, load(numbers, batch=1)).serve(together([asked])).generations
    (alone,) = of.baseline.generate([asked])

    assert isinstance(answer, Generation)
    assert answer.tokens == alone.tokens
