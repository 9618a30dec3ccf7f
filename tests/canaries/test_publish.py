"""Only a run that passes when it is judged again leaves the gate, and it leaves whole."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from cases import HEADER, judge_record, write_run
from draftgate.canaries import record, summary
from draftgate.canaries.errors import (
    CannotJudge,
    ExistingRun,
    NotPublishable,
    OutputUnwritable,
    RecordBroken,
    UsageError,
)
from draftgate.canaries.publish import publish


def edit_summary(run, **changes):
    path = run / summary.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refused(run, to, error, match):
    """The refusal is as expected, and nothing was written."""
    with pytest.raises(error, match=match) as refusal:
        publish(run, to, judge_record)
    assert not to.exists()
    assert "\n" not in str(refusal.value)


def test_a_pass_is_published_whole_under_the_name_of_its_record(tmp_path):
    run = write_run(tmp_path / "run")
    sha = record.read(run).sha256

    folder = publish(run, tmp_path / "to", judge_record)

    assert folder == tmp_path / "to" / f"core-{sha[:12]}"
    assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]
    assert sorted(entry.name for entry in folder.iterdir()) == ["record.jsonl", "result.md", "summary.json"]
    assert (folder / record.NAME).read_bytes() == (run / record.NAME).read_bytes()
    assert summary.read(folder) == summary.read(run)


def test_the_page_says_the_figure_its_interval_its_scope_and_whose_it_is(tmp_path):
    text = (publish(write_run(tmp_path / "run"), tmp_path / "to", judge_record) / "result.md").read_text()

    assert text.startswith("# PASS: 1.72x\n")
    assert "[1.65, 1.79] at 95% confidence" in text
    assert "Plain against plain [0.98, 1.02]." in text
    assert "This figure holds for this scope only." in text
    assert "- suite: core v1, digest ab12" in text
    assert "- candidate: draft:k=4, identity sha256 " in text
    assert "- servers under load" in text


def test_a_published_result_can_be_published_from_there_again(tmp_path):
    first = publish(write_run(tmp_path / "run"), tmp_path / "to", judge_record)

    assert publish(first, tmp_path / "again", judge_record).name == first.name


def test_a_hold_is_refused(tmp_path):
    refused(write_run(tmp_path / "run", verdict="HOLD"), tmp_path / "to", NotPublishable, "the verdict is HOLD")


def test_a_hold_whose_summary_was_replaced_by_that_of_a_pass_is_refused(tmp_path):
    run, passed = write_run(tmp_path / "run", verdict="HOLD"), write_run(tmp_path / "passed")
    (run / summary.NAME).write_bytes((passed / summary.NAME).read_bytes())

    refused(run, tmp_path / "to", RecordBroken, "changed after it was judged")
    edit_summary(run, record_sha256=record.read(run).sha256)
    refused(run, tmp_path / "to", NotPublishable, "the verdict is HOLD")


@pytest.mark.parametrize(
    "changes",
    [
        {"headline": {"cell": "b1", "ratio": 9.9, "low": 9, "high": 10, "aa_low": 1, "aa_high": 1}},
        {"not_looked_at": []},
        {"false_alarm": 0},
        {"seen": []},
        {"identity": {key: HEADER[key] for key in ("suite", "baseline", "candidate")} | {"seed": 7}},
    ],
)
def test_an_edited_summary_is_refused(tmp_path, changes):
    run = write_run(tmp_path / "run")
    if "headline" in changes:
        changes = {"headline": changes["headline"] | {"confidence": 0.95, "pairs": 24}}
    edit_summary(run, **changes)

    refused(run, tmp_path / "to", NotPublishable, f"not what its record gives \\({next(iter(changes))}")


def test_other_seconds_alone_are_no_edit(tmp_path):
    run = write_run(tmp_path / "run")
    edit_summary(run, seconds=99)

    assert publish(run, tmp_path / "to", judge_record).is_dir()


def test_an_edited_record_is_refused(tmp_path):
    run = write_run(tmp_path / "run")
    path = run / record.NAME
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1'))

    refused(run, tmp_path / "to", RecordBroken, "changed after it was judged")


def test_a_record_cut_short_is_refused(tmp_path):
    run = write_run(tmp_path / "run")
    path = run / record.NAME
    path.write_bytes(path.read_bytes()[:-1])
    edit_summary(run, record_sha256=record.digest(path.read_bytes()))

    refused(run, tmp_path / "to", RecordBroken, "cut short")


@pytest.mark.parametrize("end", [True, None])
def test_an_interrupted_run_is_refused(tmp_path, end):
    refused(write_run(tmp_path / "run", end=end), tmp_path / "to", CannotJudge, "not complete")


def test_a_run_with_a_planted_fault_is_refused_even_if_no_check_saw_it(tmp_path):
    run = write_run(tmp_path / "run", header=HEADER | {"fault": "F06"})

    refused(run, tmp_path / "to", NotPublishable, "F06 was planted")


def test_a_run_that_measured_no_speed_is_refused(tmp_path):
    run = write_run(tmp_path / "run")
    edit_summary(run, headline=None)
    with pytest.raises(NotPublishable, match="measured no speed"):
        publish(run, tmp_path / "to", lambda found: judge_record(found) | {"headline": None})


def test_a_run_that_is_not_there_is_refused(tmp_path):
    refused(tmp_path / "none", tmp_path / "to", UsageError, "there is no folder")


def test_a_result_is_published_once(tmp_path):
    run = write_run(tmp_path / "run")
    publish(run, tmp_path / "to", judge_record)

    with pytest.raises(ExistingRun, match="there already"):
        publish(run, tmp_path / "to", judge_record)


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputUnwritable, match="--to"):
        publish(write_run(tmp_path / "run"), tmp_path / "file" / "to", judge_record)


def test_a_failure_half_way_leaves_no_part_of_a_result(tmp_path):
    run = write_run(tmp_path / "run")
    with (
        mock.patch("pathlib.Path.rename", side_effect=OSError(28, "No space left")),
        pytest.raises(OutputUnwritable),
    ):
        publish(run, tmp_path / "to", judge_record)

    assert list((tmp_path / "to").iterdir()) == []


def test_a_run_beside_a_kept_baseline_is_refused(tmp_path):
    run = write_run(tmp_path / "run", header=HEADER | {"baseline": HEADER["baseline"] | {"kept": {}}})

    refused(run, tmp_path / "to", NotPublishable, "kept from another hour, so no speed is claimed; run both arms")
