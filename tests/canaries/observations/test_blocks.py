"""Groups are dealt to four launches A B B A, and joined to the pairs that checks read."""

from collections import Counter
from dataclasses import replace

import pytest
from arms import context, draft, plain

from draftgate.canaries.observations import blocks, pairs
from draftgate.canaries.observations.blocks import BLOCKS, dealt, joined, key, order, pairs_of, turns
from draftgate.canaries.observations.context import Context
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.suites import loader
from draftgate.suites.suite import Cell

A, B = "baseline", "candidate"


def cell(repeats=1, again=0):
    return Cell(name="cell", temperature=0, batch=1, prompts=3, tokens=4, repeats=repeats, again=again)


def schedule(asked, groups):
    return [turns(asked, groups, block) for block in range(4)]


def test_the_launches_are_a_b_b_a():
    assert (A, B, B, A) == BLOCKS


def test_even_groups_are_asked_in_the_first_half_and_odd_ones_in_the_second():
    even, odd = [(0, 0), (2, 0), (4, 0)], [(1, 0), (3, 0)]

    assert [even, even, odd, odd] == schedule(cell(), 5)


def test_all_repeats_of_a_group_are_asked_at_once():
    assert [(0, 0), (0, 1)] == turns(cell(repeats=2), 2, 0)


@pytest.mark.parametrize(("repeats", "made"), [(1, 2), (2, 2), (3, 3)])
def test_a_group_that_is_alone_is_asked_in_both_halves(repeats, made):
    listed = schedule(cell(repeats), 1)

    assert listed[0] == listed[1] != listed[2] == listed[3] != []
    assert [(0, repeat) for repeat in range(made)] == sorted(listed[0] + listed[2])


def test_the_baseline_answers_again_in_its_other_launch():
    first, _, _, last = schedule(cell(again=3), 4)

    assert [(0, 0), (2, 0), (1, 1)] == first
    assert [(1, 0), (3, 0), (0, 1), (2, 1)] == last


@pytest.mark.parametrize("groups", [1, 2, 3, 8])
@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("again", [0, 1, 5])
def test_every_turn_is_taken_once_by_each_arm_and_both_arms_take_it_in_the_same_half(groups, repeats, again):
    asked = cell(repeats, again)
    taken = Counter((BLOCKS[block], *turn) for block, listed in enumerate(schedule(asked, groups)) for turn in listed)
    halves = [
        set(turns(asked, groups, candidate)) <= set(turns(asked, groups, plain))
        for plain, candidate in ((0, 1), (3, 2))
    ]

    assert {1} == set(taken.values())
    assert [True, True] == halves
    for group in range(groups):
        of_group = sorted((arm, repeat) for arm, number, repeat in taken if number == group)
        assert of_group == sorted(order(asked, groups, group))
        assert (group < again) == (len([arm for arm, _ in of_group if arm == A]) > len(of_group) / 2)


class Launched(ReferenceTarget):
    """An arm of the reference engine that says when it was launched."""

    __slots__ = ()
    capabilities = ReferenceTarget.capabilities | {"launching"}

    def launch(self, block):
        return 10.0 + block


@pytest.fixture(scope="module")
def observed():
    """(context, cell, its four blocks) of a small greedy cell."""
    suite = loader.load("smoke")
    (asked,) = (replace(c, prompts=3, batch=2, tokens=4, repeats=1, again=1) for c in suite.cells if c.greedy)
    both = Context(
        suite=suite, baseline=Launched(name="plain", model=plain().model), candidate=draft(arm=Launched), seed=0
    )
    return both, asked, {key(asked, block): blocks.observe(both, asked, block) for block in range(4)}


def timeless(run):
    answers = [{k: v for k, v in one.items() if k != "arrivals"} for one in run["generations"]]
    return run["arm"], run["repeat"], answers


def test_blocks_join_to_what_arms_that_are_up_together_answer(observed):
    both, asked, found = observed
    whole = joined(both.suite, asked, found)
    together = pairs.observe(context(), asked)

    assert [group["canaries"] for group in whole["groups"]] == [group["canaries"] for group in together["groups"]]
    for one, other in zip(whole["groups"], together["groups"], strict=True):
        assert sorted(map(timeless, one["runs"]), key=str) == sorted(map(timeless, other["runs"]), key=str)


def test_each_run_keeps_its_launch(observed):
    both, asked, found = observed
    first, second = joined(both.suite, asked, found)["groups"]

    assert [(A, 10.0), (B, 11.0), (A, 13.0)] == [(run["arm"], run["launched"]) for run in first["runs"]]
    assert [(B, 12.0), (A, 13.0)] == [(run["arm"], run["launched"]) for run in second["runs"]]


def test_a_block_is_dealt_as_it_was_answered_and_no_other_is(observed):
    _, asked, found = observed
    for block in range(4):
        runs = found[key(asked, block)]["runs"]
        assert [dealt(asked, 2, runs, other) for other in range(4)] == [other == block for other in range(4)]
        assert not dealt(asked, 2, runs[:-1], block)
        assert not dealt(asked, 2, runs * 2, block)


def test_a_block_that_was_broken_off_is_what_the_pairs_are(observed):
    both, asked, found = observed
    broken = {"broken": {"arm": B, "told": "half"}}

    assert broken == pairs_of(both.suite, asked, found | {key(asked, 2): broken})


def test_pairs_that_were_observed_whole_are_those(observed):
    both, asked, _ = observed

    assert {"groups": []} == pairs_of(both.suite, asked, {f"{asked.name}/pairs": {"groups": []}})
    with pytest.raises(KeyError):
        pairs_of(both.suite, asked, {})
