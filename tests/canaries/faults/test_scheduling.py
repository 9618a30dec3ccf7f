"""Outcomes that reach the wrong row, or too late; prefixes that hold what was refused."""

from loads import made, suite

from draftgate.canaries.faults import scheduling
from draftgate.canaries.observations.serving.played import load, requests, session, together
from draftgate.canaries.targets.strategies import Strategies


def answers(plant, batch, blocks=None):
    numbers, of = suite().serving, made(plant(Strategies()) if plant else None)
    opened = session(of.candidate, load(numbers, batch=batch, blocks=blocks or numbers.blocks))
    served = opened.serve(together(requests(of, numbers, 8)))
    return [g.tokens for g in served.generations], sum(len(step.preempted) for step in served.steps)


def test_outcomes_joined_by_name_are_wrong_in_a_batch_only():
    honest, _ = answers(None, 1)

    assert honest == answers(scheduling.join_by_name, 1)[0]
    assert honest != answers(scheduling.join_by_name, 4)[0]


def test_a_late_frame_is_wrong_after_a_preemption_only():
    honest, preempted = answers(None, 4, suite().serving.tight)

    assert preempted
    assert honest != answers(scheduling.apply_late_frames, 4, suite().serving.tight)[0]
    assert honest == answers(scheduling.apply_late_frames, 4)[0]


def test_a_first_answer_does_not_show_what_its_prefix_holds():
    assert answers(None, 4)[0] == answers(scheduling.keep_unverified, 4)[0]
