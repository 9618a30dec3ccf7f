"""Speculation must have been there, in every kind of canary, and the verifier must have met all its paths."""

from dataclasses import replace

import pytest
from observed import generation, judged, record, spoiled, suite

from draftgate.canaries.contracts import Status


def rounds(kept, kind="", cell="greedy"):
    """Timed candidate answers to one kind keep drafts as told; None is no rounds. No synthetic drafter is evidence."""

    def change(observations):
        observations["synthetic"]["variants"].clear()
        for group in observations[f"{cell}/pairs"]["groups"]:
            for run in group["runs"]:
                for answer in run["generations"]:
                    if run["arm"] == "candidate" and answer["name"].startswith(kind):
                        answer.update(generation(answer["name"], kept=kept))

    return change


PATHS = pytest.mark.parametrize(
    ("kept", "path"),
    [(None, "proposed"), ((0,), "accepted"), ((2,), "rejected"), ((0, 1), "full")],
    ids=["plain", "all rejected", "all kept", "never all kept"],
)


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
def test_rounds_of_every_sort_pass(cell):
    assert judged("exercise", record(), cell).status is Status.PASS


@PATHS
@pytest.mark.parametrize("kind", ["exact", "json", "prose"])
def test_a_kind_that_misses_one_sort_is_not_exercised(kind, kept, path):
    finding = judged("exercise", spoiled(rounds(kept, kind)))

    assert finding.status is Status.NOT_EXERCISED
    assert f"{kind}: 0 rounds {path}" in finding.summary


@PATHS
def test_a_sampled_cell_that_misses_one_sort_is_not_exercised(kept, path):
    finding = judged("exercise", spoiled(rounds(kept, cell="sampled")), "sampled")

    assert finding.status is Status.NOT_EXERCISED
    assert f"0 rounds {path}" in finding.summary


@pytest.mark.parametrize(("kept", "label"), [((2,), "adversary"), ((0, 1), "oracle")])
def test_in_greedy_cells_the_synthetic_drafters_may_meet_what_timed_rounds_did_not(kept, label):
    met = spoiled(rounds(kept))
    met["synthetic"]["variants"] = dict.fromkeys(suite().synthetic.drafters, record()["synthetic"]["variants"][label])
    sampled = spoiled(rounds(kept, cell="sampled"))
    sampled["synthetic"] = record()["synthetic"]

    assert judged("exercise", met).status is Status.PASS
    assert judged("exercise", sampled, "sampled").status is Status.NOT_EXERCISED


def test_the_synthetic_drafters_never_stand_in_for_drafts_of_the_timed_rounds():
    observations = spoiled(rounds(None))
    observations["synthetic"] = record()["synthetic"]

    assert judged("exercise", observations).status is Status.NOT_EXERCISED


def test_rounds_without_a_draft_count_for_nothing():
    def change(observations):
        rounds(None)(observations)
        for group in observations["greedy/pairs"]["groups"]:
            for run in group["runs"]:
                for answer in run["generations"]:
                    answer["rounds"] = [[0, 0, 1, 0]] * 19 * (run["arm"] == "candidate")

    finding = judged("exercise", spoiled(change))

    assert finding.status is Status.NOT_EXERCISED
    assert finding.figures == {"exact": {}, "json": {}, "prose": {}}


def test_the_least_numbers_are_the_suites():
    enough = replace(suite(), exercise=replace(suite().exercise, proposed=20))
    short = replace(suite(), exercise=replace(suite().exercise, proposed=21))

    assert judged("exercise", record(), of=enough).status is Status.PASS
    assert judged("exercise", record(), of=short).status is Status.NOT_EXERCISED
