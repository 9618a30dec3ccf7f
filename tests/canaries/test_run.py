"""A run: observed once, judged from its record alone, resumed as what it was."""

import json
import multiprocessing
import os
import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import dialogues
import pytest
from arms import options, smoke

from draftgate.canaries import record, run, workers
from draftgate.canaries.errors import ExistingRun, RecordBroken, TargetUnavailable, UsageError, WorkerLost
from draftgate.canaries.observations import variants
from draftgate.canaries.report.progress import Silent
from draftgate.suites import loader

SMALL = (  # a suite of seconds: what is observed matters here, not how much
    (r"prompts = ([89]|1\d)", "prompts = 7"),  # a cell's: one of each kind
    (r"prompts = [1-6]", "prompts = 1"),
    (r"tokens = \d+", "tokens = 4"),
    (r"draft_length = 3", "draft_length = 1"),
    (r"draft_lengths = .*\]", "draft_lengths = [1, 2]"),
    (r"repeats = 2", "repeats = 1"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A suite in a folder, frozen."""
    folder = tmp_path_factory.mktemp("suite") / "mine" / "v1"
    shutil.copytree(loader.SHIPPED / "smoke" / "v1", folder)
    settings = folder / "suite.toml"
    text = settings.read_text(encoding="utf-8")
    for old, new in SMALL:
        text, found = re.subn(old, new, text)
        assert found, old
    settings.write_text(text, encoding="utf-8")
    loader.freeze(folder, unreleased=True)
    return folder


class Stop(Silent):
    """Interrupts as Ctrl-C does, before the nth step."""

    def __init__(self, at: int) -> None:
        self.at, self.steps = at, []

    def step(self, name: str) -> None:
        self.steps.append(name)
        if len(self.steps) == self.at:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def interrupted(small, tmp_path_factory):
    """A run that was stopped in its midst, and how far it came."""
    folder, stop = tmp_path_factory.mktemp("runs") / "stopped", Stop(5)
    with pytest.raises(KeyboardInterrupt):
        run.run(options(folder, suite=str(small)), stop)
    return folder, stop.steps


def test_the_summary_stands_beside_the_record():
    assert smoke().summary == json.loads((smoke().folder / "summary.json").read_text(encoding="utf-8"))


def test_every_required_check_was_made_in_every_cell():
    suite = loader.load("smoke")

    made = {cell["name"]: [f["check"] for f in cell["findings"]] for cell in smoke().summary["cells"]}
    assert {cell.name: list(suite.required["reference"].checks_for(cell)) for cell in suite.cells} == made


def test_a_header_names_no_fault_of_an_honest_run_and_the_one_that_was_planted():
    assert smoke().record.header["fault"] is None
    assert smoke("F06").record.header["fault"] == "F06"


def test_an_interrupted_run_is_resumed_from_what_it_observed(interrupted, small, tmp_path):
    folder, steps = interrupted
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    before = record.read(copy)

    resumed = run.run(options(copy, suite=str(small), resume=True), Silent())

    after = record.read(copy)
    assert (True, False) == (before.interrupted, before.ended)
    assert ["opening both arms", *before.observations] == steps[:-1]
    assert before.observations.items() <= after.observations.items()
    assert (True, False) == (after.ended, after.interrupted)
    assert resumed == run.judge_record(after)


def spoilt(folder, copy, key, data):
    """A copy of the run whose observation `key` says something else, or which has it beside its own."""
    shutil.copytree(folder, copy)
    lines = [json.loads(line) for line in (copy / record.NAME).read_text(encoding="utf-8").splitlines()]
    others = [line for line in lines if line.get("key") != key and line["type"] != "end"]
    told = {"type": "observation", "key": key, "seconds": 0.0, "data": data}
    text = "".join(json.dumps(line) + "\n" for line in (*others, told))
    (copy / record.NAME).write_text(text, encoding="utf-8")
    return copy


UNREADABLE = {
    "greedy-1/pairs": ({"broken": "x"}, {"broken": {"arm": "nobody", "told": "x"}}, "x", 7, None, [], {"groups": "x"}),
    "greedy-1/replays/lost": ("x", {"arm": "nobody", "told": "x"}, {"arm": "baseline"}),
}


def test_a_record_of_other_lengths_is_told_in_one_line_when_it_is_resumed(interrupted, small, tmp_path):
    (pairs,) = [json.loads(line) for line in _lines(interrupted[0]) if '"greedy-1/pairs"' in line]
    for group in pairs["data"]["groups"]:
        group["runs"] = group["runs"][:1]
    copy = spoilt(interrupted[0], tmp_path / "copy", "greedy-1/pairs", pairs["data"])
    lines = [line for line in _lines(copy) if '"greedy-1/costs"' not in line]  # is made from the pairs
    (copy / record.NAME).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    with pytest.raises(RecordBroken, match=r"nothing can be made from it: .*; run again with another --out") as caught:
        run.run(options(copy, suite=str(small), resume=True), Silent())

    assert "\n" not in str(caught.value)


def _lines(folder):
    return (folder / record.NAME).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("key", "data"), [(key, data) for key, listed in UNREADABLE.items() for data in listed])
def test_a_record_that_cannot_be_read_is_told_in_one_line_when_it_is_resumed(interrupted, small, tmp_path, key, data):
    copy = spoilt(interrupted[0], tmp_path / "copy", key, data)

    with pytest.raises(RecordBroken, match=rf"{key}.* is .*; run again with another --out") as caught:
        run.run(options(copy, suite=str(small), resume=True), Silent())

    assert "\n" not in str(caught.value)
    assert 3 == caught.value.exit_status


def test_a_record_with_a_broken_answer_and_a_lost_arm_goes_on(interrupted, small, tmp_path):
    note = {"arm": "candidate", "told": "half an event"}
    copy = spoilt(interrupted[0], tmp_path / "one", "greedy-1/pairs", {"broken": note})
    copy = spoilt(copy, tmp_path / "two", "greedy-1/replays/lost", note)

    summary = run.run(options(copy, suite=str(small), resume=True), Silent())

    assert ("HOLD", True) == (summary["verdict"], record.read(copy).ended)


HEADER = {"suite": {"name": "core", "version": "v1", "digest": "ab"}, "seed": 0, "baseline": {}, "candidate": {}}


def lost(arm):
    """An observation over which an arm is lost."""

    def compute():
        error = TargetUnavailable("gone")
        error.lost = arm
        raise error

    return compute


@pytest.mark.parametrize(
    ("arms", "keys"),
    [
        (("candidate",), ["one/lost"]),
        (("candidate", "candidate"), ["one/lost", "one"]),
        (("candidate", "baseline"), ["one/lost", "one/lost/baseline"]),  # each has done so once
        (("candidate", "baseline", "candidate"), ["one/lost", "one/lost/baseline", "one"]),
        (("candidate", "baseline", "baseline"), ["one/lost", "one/lost/baseline", "one"]),
        ((None, None), []),
    ],
)
def test_an_arm_that_is_lost_twice_over_the_same_is_the_observation(tmp_path, arms, keys):
    with record.Journal.create(tmp_path, HEADER) as journal:
        for arm in arms:
            with pytest.raises(TargetUnavailable):
                run.once(journal, "one", lost(arm))
        made = dict(journal.observations)

    assert keys == list(made)
    assert made.get("one") in (None, {"broken": {"arm": arms[-1], "told": "lost over this a second time (gone)"}})


def test_workers_observe_what_one_process_observes(small, tmp_path, monkeypatch):
    made = []
    for at_once in (1, 2):
        monkeypatch.setattr(workers, "at_once", lambda n=at_once: n)
        run.run(options(tmp_path / str(at_once), suite=str(small)), Silent())
        made.append(record.read(tmp_path / str(at_once)).observations)

    alone, beside = made
    assert alone.keys() == beside.keys()
    assert len(_clockless(alone)) > 0
    assert _clockless(alone) == _clockless(beside)


def test_a_run_stopped_amid_its_workers_keeps_what_they_finished_and_makes_it_no_second_time(
    small, tmp_path, monkeypatch
):
    monkeypatch.setattr(workers, "at_once", lambda: 2)
    stop = Stop(9)  # the loading, five alone, and the third that a worker would begin
    with pytest.raises(KeyboardInterrupt):
        run.run(options(tmp_path, suite=str(small)), stop)
    before = record.read(tmp_path)
    left = multiprocessing.active_children()

    resumed = run.run(options(tmp_path, suite=str(small), resume=True), Silent())

    lines = (tmp_path / record.NAME).read_text(encoding="utf-8").splitlines()
    keys = [json.loads(line).get("key") for line in lines]
    assert (True, []) == (before.interrupted, left)
    assert 6 == len(before.observations)
    assert stop.steps[:6] == ["opening both arms", *list(before.observations)[:5]]
    assert sorted(set(filter(None, keys))) == sorted(filter(None, keys))
    assert resumed == run.judge_record(record.read(tmp_path))


def test_a_record_that_was_finished_before_costs_were_observed_is_judged_as_it_stands(small, tmp_path):
    run.run(options(tmp_path, suite=str(small)), Silent())
    file = tmp_path / record.NAME
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in lines if b"/costs" not in line))

    resumed = run.run(options(tmp_path, suite=str(small), resume=True), Silent())

    assert len(lines) - 2 == len(file.read_bytes().splitlines())
    assert resumed == run.judge_record(record.read(tmp_path))
    assert resumed["headline"]["predicted"] is None


def test_a_run_whose_worker_is_killed_holds_a_record_to_resume(small, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "at_once", lambda: 2)
    with monkeypatch.context() as killing:
        killing.setattr(variants, "observe_knobs", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        with pytest.raises(WorkerLost, match="observed knobs"):
            run.run(options(tmp_path, suite=str(small)), Silent())
    before = record.read(tmp_path)

    run.run(options(tmp_path, suite=str(small), resume=True), Silent())

    assert before.interrupted
    assert "knobs" not in before.observations
    assert record.read(tmp_path).ended


def test_a_resumed_run_finds_what_an_uninterrupted_one_finds(interrupted, small, tmp_path):
    folder, _ = interrupted
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    resumed = run.run(options(copy, suite=str(small), resume=True), Silent())

    whole = run.run(options(tmp_path / "whole", suite=str(small)), Silent())

    assert _timeless(resumed) == _timeless(whole)
    assert len(_timeless(whole)) > 10


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"fault": "F06"},
        {"candidate": "draft:k=3"},
        {"claim": 1.5},
        {"suite": "smoke"},
        {"dtype": "bfloat16"},
    ],
    ids=["seed", "fault", "candidate", "claim", "suite", "dtype"],
)
def test_a_run_is_not_resumed_as_another(interrupted, small, tmp_path, changes):
    folder, _ = interrupted
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)

    with pytest.raises(UsageError, match="was recorded with another") as caught:
        run.run(options(copy, **{"suite": str(small), "resume": True} | changes), Silent())

    assert "\n" not in str(caught.value)
    assert (folder / record.NAME).read_bytes() == (copy / record.NAME).read_bytes()


def test_a_record_is_not_written_over(interrupted, small):
    folder, _ = interrupted

    with pytest.raises(ExistingRun):
        run.run(options(folder, suite=str(small)), Silent())


def test_a_record_in_which_nothing_was_observed_holds(small, interrupted):
    empty = replace(smoke().record, observations={})

    summary = run.judge_record(empty)

    assert summary["verdict"] == "HOLD"
    assert {"INCOMPLETE"} == {because["reason"] for because in summary["reasons"]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"baseline": "draft"}, "a candidate is held against plain decoding"),
        ({"baseline": "plain:k=2"}, "has no option 'k'"),
        ({"candidate": "vlm"}, "unknown target 'vlm'"),
        ({"fault": "F99"}, "unknown fault 'F99'"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(tmp_path, changes, words):
    with pytest.raises(UsageError, match=words):
        run.run(options(tmp_path / "out", **changes), Silent())

    assert not (tmp_path / "out").exists()


def _clockless(found):
    """Every observation but for what a clock said."""
    if isinstance(found, dict):
        return {
            key: _clockless(value)
            for key, value in found.items()
            if key not in {"wall", "arrivals"} and not key.endswith("/costs")
        }
    return [_clockless(value) for value in found] if isinstance(found, list) else found


def _timeless(summary):
    """What was found, but for what a clock decides."""
    return [
        (cell["name"], f["check"], f["status"], None if f["check"] == "speed" else f["summary"])
        for cell in summary["cells"]
        for f in cell["findings"]
    ]


def test_what_the_suite_lacks_is_said_not_to_be_looked_at():
    whole = dialogues.suite()
    some = replace(whole, canaries=tuple(c for c in whole.canaries if c.kind in ("json", "multi_turn")))

    assert "no exact, identifiers, tools, code, prose canaries in this suite" in run.scope(some, "reference")
    assert "no cache that outlives an answer" not in run.scope(some, "reference")
    assert "no cache that outlives an answer" in run.scope(replace(some, conversation=None), "reference")
