"""Speculation must have been there, in every kind of canary."""

from dataclasses import replace

import pytest
from observed import generation, judged, record, spoiled, suite

from draftgate.canaries.contracts import Status


def rounds(kind, kept):
    """All candidate answers to one kind keep drafts as told; None is no rounds at all."""

    def change(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for run in group["runs"]:
                for answer in run["generations"]:
                    if run["arm"] == "candidate" and answer["name"].startswith(kind):
                        answer.update(generation(answer["name"], kept=kept))

    return change


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
def test_rounds_of_every_sort_pass(cell):
    assert judged("exercise", record(), cell).status is Status.PASS


@pytest.mark.parametrize("kind", ["exact", "json", "prose"])
@pytest.mark.parametrize(
    ("kept", "path"),
    [(None, "proposed"), ((0,), "accepted"), ((2,), "rejected"), ((0, 1), "full")],
    ids=["plain", "all rejected", "all kept", "never all kept"],
)
def test_one_kind_that_misses_one_sort_is_not_exercised(kind, kept, path):
    finding = judged("exercise", spoiled(rounds(kind, kept)))

    assert finding.status is Status.NOT_EXERCISED
    assert f"{kind}: 0 rounds {path}" in finding.summary


def test_rounds_without_a_draft_count_for_nothing():
    def change(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for run in group["runs"]:
                for answer in run["generations"]:
                    answer["rounds"] = [[0, 0, 1, 0]] * 19

    finding = judged("exercise", spoiled(change))

    assert finding.status is Status.NOT_EXERCISED
    assert finding.figures == {"exact": {}, "json": {}, "prose": {}}


def test_the_least_numbers_are_the_suites():
    enough = replace(suite(), exercise=replace(suite().exercise, rejected=12))
    short = replace(suite(), exercise=replace(suite().exercise, rejected=13))

    assert judged("exercise", record(), of=enough).status is Status.PASS
    assert judged("exercise", record(), of=short).status is Status.NOT_EXERCISED
