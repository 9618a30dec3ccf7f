"""The parts of a round are timed behind what the cell asks."""

from arms import context, smoke

from draftgate.canaries.observations import costs
from draftgate.canaries.observations.costs import PARTS, TURNS
from draftgate.canaries.observations.pairs import grouped
from draftgate.engine.costs.spent import Spent
from draftgate.suites import loader


class Watching:
    """Notes what it is asked to spend."""

    def __init__(self):
        self.asked = []

    def spend(self, requests, answers, turns):
        self.asked.append((requests, answers, turns))
        return [Spent(9.0, 8.0, 9.0, 0.0), *(Spent(1.0 + turn, 2.0, 3.0, 4.0) for turn in range(turns))]


def test_the_first_group_is_timed_behind_its_plain_answers():
    arm, suite = Watching(), loader.load("smoke")
    cell = suite.cells[1]
    pairs = smoke().record.observations[f"{cell.name}/pairs"]

    found = costs.observe(context(arm), cell, pairs)

    ((requests, answers, turns),) = arm.asked
    plain = next(run for run in pairs["groups"][0]["runs"] if (run["arm"], run["repeat"]) == ("baseline", 0))
    assert [canary.id for canary in grouped(suite, cell)[0]] == [request.name for request in requests]
    assert [tuple(g["tokens"]) for g in plain["generations"]] == [tuple(answer) for answer in answers]
    assert cell.temperature == requests[0].sampling.temperature
    assert TURNS == turns
    assert {"target": 9.0, "draft": 8.0} == found["prefill"]
    assert [1.0 + turn for turn in range(TURNS)] == found["step"]
    assert [TURNS] * len(PARTS) == [len(found[part]) for part in PARTS]


def test_a_run_holds_what_its_rounds_cost_and_foretells_its_speed():
    observed, summary = smoke().record.observations, smoke().summary

    for cell in ("greedy-1", "topp-8"):
        assert all(4.0 == drafted for drafted in observed[f"{cell}/costs"]["drafted"])
    assert summary["headline"]["predicted"]["ratio"] > 0
    assert 1 < summary["headline"]["predicted"]["wider"]
