"""An observation of serving with a hole is one that was not made."""

import copy

import pytest
from loads import case, honest

from draftgate.canaries.checks.loaded import COMPLETE
from draftgate.canaries.checks.whole import hole, whole
from draftgate.canaries.observations.serving.table import OBSERVED


def spoiled(name, change):
    found = copy.deepcopy(honest(name))
    change(found)
    return case({name: found})


@pytest.mark.parametrize("name", OBSERVED)
def test_an_honest_observation_is_whole_and_one_that_was_not_made_is_not(name):
    assert whole(case({name: honest(name)}), f"serving/{name}")
    assert not whole(case({}), f"serving/{name}")
    assert f"serving/{name}" in COMPLETE


HOLES = {
    "a label less": lambda o: o["variants"].pop(next(iter(o["variants"]))),
    "an answer less": lambda o: next(iter(o["variants"].values()))["generations"].pop(),
    "a plain answer less": lambda o: o["plain"].pop(),
    "an event untold": lambda o: next(iter(o["variants"].values()))["met"].pop("left"),
    "a count that is no number": lambda o: next(iter(o["variants"].values()))["met"].update(left=float("nan")),
    "no answers": lambda o: next(iter(o["variants"].values())).update(generations=[]),
    "a plain answer that goes on": lambda o: o["plain"][0].update(tokens=[*o["plain"][0]["tokens"], 1]),
}


@pytest.mark.parametrize("name", ["neighbours", "preemption"])
@pytest.mark.parametrize("change", HOLES)
def test_a_scenario_with_a_hole_is_none(name, change):
    assert hole(spoiled(name, HOLES[change]), f"serving/{name}") is not None


OTHERS = {
    "a sampled answer less": ("parameters", lambda o: o["sampled"].pop()),
    "a replay too short": ("parameters", lambda o: o["sampled"][0]["replay"]["prob"].pop()),
    "a change less": ("mask_probe", lambda o: o["changes"].popitem()),
    "a place less": ("mask_probe", lambda o: o.update(places=1)),
    "a NaN": ("mask_probe", lambda o: o["changes"]["sibling"].update(moved=float("nan"))),
    "a drafter less": ("state_parity", lambda o: o["drafters"].pop("branches")),
    "an infinite difference": ("state_parity", lambda o: o["drafters"]["plain"].update(keys=float("inf"))),
}


@pytest.mark.parametrize("change", OTHERS)
def test_any_other_observation_with_a_hole_is_none(change):
    name, spoil = OTHERS[change]

    assert hole(spoiled(name, spoil), f"serving/{name}") is not None
