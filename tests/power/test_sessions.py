"""Faults that single answers never show are seen in sessions, by a whole run of a suite that requires them."""

import shutil
from functools import cache
from pathlib import Path

import dialogues
import pytest
from arms import options

from draftgate import harness
from draftgate.canaries import run
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.faults import registry
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.targets import reference

SESSIONS = [plant for plant in registry.PLANTS if plant.seen_by == "conversation"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return dialogues.folder(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def found(suite, tmp_path_factory):
    """What the greedy cell's checks found, by the fault that was planted."""

    @cache
    def findings(code):
        out = tmp_path_factory.mktemp("runs") / (code or "honest")
        summary = run.run(options(out, suite=str(suite), fault=code), Silent())
        return summary, {finding["check"]: finding for finding in summary["cells"][0]["findings"]}

    return findings


def test_an_honest_session_passes(found):
    summary, findings = found(None)

    assert ("PASS", []) == (summary["verdict"], summary["reasons"])
    assert Status.PASS == findings["conversation"]["status"]
    assert 8 == findings["conversation"]["figures"]["from_live_cache"]
    assert "no cache that outlives an answer" not in [row["what"] for row in summary["not_looked_at"]]


@pytest.mark.parametrize("plant", SESSIONS, ids=lambda plant: plant.code)
def test_a_fault_of_sessions_is_held_by_the_check_that_must_see_it_and_by_no_other(plant, found):
    summary, findings = found(plant.code)

    assert plant.expected == f"{summary['verdict']} {Reason.CORRECTNESS}"
    assert [plant.seen_by] == [check for check, one in findings.items() if one["status"] == Status.FAIL]
    assert "conversation" in {because["check"] for because in summary["reasons"]}


def test_the_cells_say_which_kinds_they_ask(found):
    summary, _ = found(None)

    assert "6 prompts (3 multi_turn, 3 prose)" in summary["cells"][0]["setting"]


def test_a_model_without_a_chat_template_is_refused_before_anything_is_recorded(suite, tmp_path, capsys):
    bare = tmp_path / "bare"
    shutil.copytree(reference.EMBEDDED / "target", bare)
    (bare / "chat_template.jinja").unlink()

    status = harness.main(
        ["run", str(suite), "--model", str(bare), "--candidate", "ngram:k=4", "--out", str(tmp_path / "out")]
    )

    said = capsys.readouterr()
    assert 2 == status
    assert "the model bare has no chat template: a conversation of user, assistant" in said.err
    assert 1 == len(said.err.splitlines())
    assert not Path(tmp_path / "out").exists()
