"""The order of the timed pairs, and what a pair holds."""

from collections import Counter
from dataclasses import replace

from arms import context, smoke

from draftgate.canaries.observations import pairs
from draftgate.canaries.observations.pairs import order
from draftgate.engine.request import Generation
from draftgate.suites import loader
from draftgate.suites.suite import Cell

A, B = "baseline", "candidate"


def cell(repeats, again=0):
    return Cell(name="cell", temperature=0, batch=1, prompts=3, tokens=4, repeats=repeats, again=again)


def test_the_arms_run_in_the_order_a_b_b_a():
    assert [(A, 0), (B, 0), (B, 1), (A, 1)] == order(cell(2), 0)
    assert [A, B, B, A, A, B, B, A] == [arm for arm, _ in order(cell(4), 0)]


def test_the_next_group_begins_with_the_other_arm():
    assert [(B, 0), (A, 0), (A, 1), (B, 1)] == order(cell(2), 1)
    assert [(B, 0), (A, 0)] == order(cell(1), 1)


def test_over_two_groups_each_arm_runs_as_often_first_as_second():
    first = Counter(order(cell(3), group)[2 * repeat][0] for group in (0, 1) for repeat in range(3))

    assert first == {A: 3, B: 3}


def test_the_first_groups_end_with_the_baseline_once_more():
    assert [(A, 0), (B, 0), (A, 1)] == order(cell(1, again=2), 0)
    assert [(B, 0), (A, 0), (A, 1)] == order(cell(1, again=2), 1)
    assert [(A, 0), (B, 0)] == order(cell(1, again=2), 2)


def test_every_canary_is_answered_by_both_arms_in_every_repeat():
    suite = loader.load("smoke")
    (asked,) = (replace(c, prompts=3, batch=2, tokens=4, again=1) for c in suite.cells if c.greedy)

    observed = pairs.observe(context(), asked)

    names = [canary.id for canary in suite.canaries_for(asked)]
    assert [names[:2], names[2:]] == [group["canaries"] for group in observed["groups"]]
    for number, group in enumerate(observed["groups"]):
        assert order(asked, number) == [(run["arm"], run["repeat"]) for run in group["runs"]]
        for run in group["runs"]:
            answers = [Generation.from_json(g) for g in run["generations"]]
            assert group["canaries"] == [answer.name for answer in answers]
            assert all(bool(answer.rounds) == (run["arm"] == B) for answer in answers)


def test_requests_carry_the_ends_of_the_model():
    """Nothing follows an end in the recorded answers, and some answers reach one."""
    eos = set(context().baseline.eos)
    recorded = smoke().record.observations
    answers = [
        g["tokens"]
        for name, observed in recorded.items()
        if name.endswith("/pairs")
        for group in observed["groups"]
        for run in group["runs"]
        for g in run["generations"]
    ]

    assert eos
    assert any(eos & set(tokens) for tokens in answers)
    assert not any(eos & set(tokens[:-1]) for tokens in answers)
