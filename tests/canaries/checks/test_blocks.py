"""Four blocks make the pairs of a cell; no record in which they do not is ever passed."""

import math
from dataclasses import replace

import pytest
from observed import GREEDY as CELL
from observed import SAMPLED as ALONE
from observed import case_in_turn, in_turn, served, suite

from draftgate.canaries.checks.blocks import as_asked, assembled, unfit
from draftgate.canaries.checks.registry import CHECKS, judge
from draftgate.canaries.checks.whole import hole
from draftgate.canaries.contracts import Reason, Status

GREEDY = ("exact_tokens", "noise", "exercise", "algebra", "configuration", "answered", "speed")
SAMPLED = ("noise", "pit", "support", "exercise", "algebra", "configuration", "answered", "speed")
BLOCK = "greedy/block/2"


def statuses(observations, cell="greedy"):
    case = case_in_turn(observations, cell)
    return {name: judge(CHECKS[name], case).status for name in (GREEDY if cell == "greedy" else SAMPLED)}


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
def test_an_honest_record_passes_every_check(cell):
    assert {Status.PASS} == set(statuses(in_turn(), cell).values())
    assert unfit(case_in_turn(in_turn(), cell)) is None


def test_arms_that_were_up_together_are_judged_as_they_were_observed():
    observations = served()

    assert assembled(suite(), {"launching": "together"}, observations) is observations
    assert assembled(suite(), {}, observations) is observations


def test_pairs_that_were_stored_beside_blocks_are_not_read():
    observations = in_turn() | {"greedy/pairs": served()["greedy/pairs"]}
    del observations[BLOCK]

    assert "greedy/pairs" not in case_in_turn(observations).observations


def test_a_cell_is_told_with_the_repeats_that_were_made_of_it():
    told = [as_asked(suite(), {"launching": how}, ALONE).repeats for how in ("together", "in turn")]

    assert [1, 2] == told
    assert as_asked(suite(), {"launching": "in turn"}, CELL) == CELL


def first_run(observations, block=BLOCK):
    return observations[block]["runs"][0]


def swapped(observations):
    observations["greedy/block/1"], observations[BLOCK] = observations[BLOCK], observations["greedy/block/1"]


WRONG = {
    "a block is missing": lambda o: o.pop(BLOCK),
    "a block is another one's twin": lambda o: o.update({BLOCK: o["greedy/block/1"]}),
    "blocks are swapped": swapped,
    "a block of the other arm": lambda o: o.update({BLOCK: o["greedy/block/3"]}),
    "a run of the other arm": lambda o: first_run(o).update(arm="baseline"),
    "a run less": lambda o: o[BLOCK]["runs"].pop(),
    "a run twice": lambda o: o[BLOCK]["runs"].append(first_run(o)),
    "no runs": lambda o: o[BLOCK]["runs"].clear(),
    "another repeat": lambda o: first_run(o).update(repeat=7),
    "another group": lambda o: first_run(o).update(group=0),
    "a group that the cell lacks": lambda o: first_run(o).update(group=99),
    "answers to another group": lambda o: first_run(o).update(
        generations=first_run(o, "greedy/block/1")["generations"]
    ),
    "no launch": lambda o: o[BLOCK].pop("launched"),
    "no counters": lambda o: first_run(o).pop("counters"),
    "no block": lambda o: o.update({BLOCK: None}),
    "a list": lambda o: o.update({BLOCK: []}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_no_check_passes_on_blocks_that_are_not_what_was_asked_for(wrong):
    observations = in_turn()
    WRONG[wrong](observations)
    findings = [judge(CHECKS[name], case_in_turn(observations)) for name in GREEDY]

    assert {(Status.INCONCLUSIVE, Reason.INCOMPLETE)} == {(one.status, one.reason) for one in findings}
    assert {Status.PASS} == set(statuses(observations, "sampled").values())


def times(*launched):
    """A record whose blocks say they were launched then."""
    observations = in_turn()
    for block, time in enumerate(launched):
        observations[f"greedy/block/{block}"]["launched"] = time
    return observations


@pytest.mark.parametrize(
    ("launched", "late"),
    [
        ((100, 103, 102, 104), 2),  # A B B A in another order
        ((104, 103, 102, 101), 1),
        ((100, 101, 102, 100), 3),  # the baseline's first server cannot have outlived the candidate's
        ((100, 100, 101, 102), 1),  # both at once
        ((100, 100.01, 102, 103), 1),  # before the other arm had answered
    ],
)
def test_launches_that_were_not_in_turn_make_no_pairs(launched, late):
    case = case_in_turn(times(*launched))

    assert {Status.INCONCLUSIVE} == {judge(CHECKS[name], case).status for name in GREEDY}
    assert f"greedy/block/{late} says it was launched before greedy/block/{late - 1} had answered" in unfit(case)


@pytest.mark.parametrize("launched", [(100, 101, 102, 103), (1.5e9, 1.6e9, 1.7e9, 1.8e9), (100, 101, 101, 102)])
def test_launches_in_turn_make_pairs(launched):
    assert unfit(case_in_turn(times(*launched))) is None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("a block is missing", "greedy/block/2 was not observed, and a cell takes 4 blocks; run again"),
        ("a block of the other arm", "greedy/block/2 is not what the candidate was to answer there; run again"),
        ("no launch", "greedy/block/2 cannot have been observed (greedy/block/2 is {'runs'"),
    ],
)
def test_why_there_are_no_pairs_is_told_in_one_line(wrong, told):
    observations = in_turn()
    WRONG[wrong](observations)

    assert hole(case_in_turn(observations), "pairs").startswith(told)
    assert hole(case_in_turn(observations), "replays").startswith(told)


@pytest.mark.parametrize("value", [None, True, "x", -1, math.nan, math.inf, 10**400, [], {}])
@pytest.mark.parametrize("place", ["launched", "runs", "group", "repeat", "wall", "arm", "generations"])
def test_a_value_that_cannot_have_been_observed_is_no_evidence(place, value):
    observations = in_turn()
    holder = observations[BLOCK] if place in ("launched", "runs") else first_run(observations)
    holder[place] = value

    assert Status.PASS not in set(statuses(observations).values())


def test_a_block_that_was_broken_off_is_its_arms_fault():
    observations = in_turn() | {BLOCK: {"broken": {"arm": "candidate", "told": "half an event"}}}
    finding = judge(CHECKS["answered"], case_in_turn(observations))

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert "half an event" in finding.summary


def test_runs_of_another_way_to_launch_are_no_evidence():
    """Pairs of a record in turn carry their launch, and those of arms that were up together carry none."""
    made = case_in_turn(in_turn())

    assert hole(replace(made, header={**made.header, "launching": "together"}, holes={}), "pairs")
