"""Figures by task are counts of what was recorded, each kind in its task."""

import math
from dataclasses import replace

import pytest
from observed import CANARIES, GREEDY, SAMPLED, generation, pairs, suite

from draftgate.canaries.record import Record
from draftgate.canaries.report.by_task import GROUPS, TASKS, right, rows
from draftgate.suites.suite import KINDS

ALONE = replace(GREEDY, batch=1)
KEPT = {"exact": (2,), "json": (1,), "prose": (0,)}


def recorded():
    """Exact canaries keep all drafts, json ones half, prose none; twice as fast where all are kept."""
    found = {f"{cell.name}/pairs": pairs(cell) for cell in (ALONE, SAMPLED)}
    for group in found["greedy/pairs"]["groups"]:
        for run in group["runs"]:
            for place, canary in enumerate(group["canaries"]):
                kind = canary.partition("-")[0]
                if run["arm"] == "candidate":
                    run["generations"][place] = generation(canary, kept=KEPT[kind])
                    if kind == "exact":
                        run["generations"][place]["arrivals"] = [
                            [seconds / 2, tokens] for seconds, tokens in run["generations"][place]["arrivals"]
                        ]
    return Record(header={}, observations=found, seconds=1.0, ended=True, interrupted=False, sha256="0" * 64)


@pytest.fixture
def made():
    return {row.task: row for row in rows(replace(suite(), cells=(ALONE, SAMPLED)), [recorded(), recorded()])}


def test_every_kind_has_a_task_and_a_row():
    assert sorted(kind for kinds in TASKS.values() for kind in kinds) == sorted(KINDS)
    assert set(KINDS) <= {kinds[0] for kinds in GROUPS.values() if len(kinds) == 1}


def test_tasks_come_first_and_those_that_nobody_asked_are_left_out(made):
    assert ["structured", "copying", "prose", "exact", "json"] == list(made)


def test_drafts_kept_are_counted_by_cell(made):
    assert (1.0, 0.5, 0.0) == tuple(made[task].kept["greedy"] for task in ("exact", "json", "prose"))
    assert 1 == len({made[task].kept["sampled"] for task in made})


def test_the_speed_of_a_task_is_that_of_its_prompts_and_runs_are_no_more_prompts(made):
    plain = generation("x", kept=None)["arrivals"][-1][0]
    fast = generation("x", kept=KEPT["exact"])["arrivals"][-1][0] / 2

    assert plain / fast == pytest.approx(made["exact"].speed.ratio)
    assert 2 == made["exact"].speed.pairs
    assert 1 == made["json"].speed.pairs


def test_without_a_greedy_cell_of_single_answers_there_is_no_speed():
    (row, *_) = rows(replace(suite(), cells=(SAMPLED,)), [recorded()])

    assert row.speed is None


def test_nothing_drafted_is_no_share():
    record = recorded()
    for group in record.observations["greedy/pairs"]["groups"]:
        for run in group["runs"]:
            run["generations"] = [generation(g["name"], kept=None) for g in run["generations"]]
    (row, *_) = rows(replace(suite(), cells=(ALONE,)), [record])

    assert math.isnan(row.kept["greedy"])
    assert len(CANARIES) == 4


def test_right_answers_are_counted_in_the_first_cell_that_judges_them():
    def cell(json, code):
        figures = {"json_valid": json, "code_runs": code}
        return {
            "findings": [{"check": check, "figures": {"baseline_right": n, "asked": 4}} for check, n in figures.items()]
        }

    cells = [cell(4, 3), cell(1, 1)]

    assert (4, 4) == right(cells, ("json",))
    assert (7, 8) == right(cells, ("json", "code", "tools"))
    assert right(cells, ("prose",)) is None


def test_no_speed_is_made_of_times_beside_a_kept_baseline():
    kept = replace(recorded(), header={"baseline": {"kept": {}}})
    found = rows(replace(suite(), cells=(ALONE, SAMPLED)), [kept])

    assert {None} == {row.speed for row in found}
    assert None not in {row.speed for row in rows(replace(suite(), cells=(ALONE, SAMPLED)), [recorded()])}
