"""A baseline is recorded whole or not at all; transformers' own is then played back beside its assisted decoding."""

from __future__ import annotations

import json
from types import SimpleNamespace

import kept
import pytest

from draftgate import harness
from draftgate.canaries import keeping
from draftgate.canaries.report.progress import Silent


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A suite, and a tape of plain transformers."""
    folder = tmp_path_factory.mktemp("kept")
    suite, tape = kept.suite(folder), folder / "hf.tape"
    assert harness.main(["run", suite, "--baseline", "hf", "--record-baseline", str(tape)]) == 0
    return SimpleNamespace(suite=suite, tape=tape)


def judge(recorded, folder, *more):
    words = ["--baseline", f"replay:file={recorded.tape}", "--candidate", "hf:method=draft", "--out", str(folder)]
    return harness.main(["run", recorded.suite, *words, *more])


def test_an_honest_candidate_passes_and_its_record_says_what_was_not_looked_at(recorded, tmp_path):
    assert judge(recorded, tmp_path / "run") == 0

    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    unseen = [row["what"] for row in summary["not_looked_at"]]
    assert "whether the baseline is still what it was when it was recorded" in unseen
    assert "speed" in unseen
    assert summary["identity"]["baseline"]["kept"]["sha256"] in recorded.tape.read_text(encoding="utf-8")[-80:]
    assert harness.main(["report", str(tmp_path / "run")]) == 0


def test_a_model_in_another_precision_is_refused(recorded, tmp_path, capsys):
    assert judge(recorded, tmp_path / "run", "--dtype", "bfloat16") == 2
    assert "the arms differ in more than speculation (dtype: 'float32', not 'bfloat16')" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_nothing_is_overwritten(recorded, capsys):
    before = recorded.tape.read_bytes()

    assert harness.main(["run", recorded.suite, "--baseline", "hf", "--record-baseline", str(recorded.tape)]) == 2
    assert "is there already, and a kept baseline is never overwritten; name another file" in capsys.readouterr().err
    assert recorded.tape.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "not the reference engine; name one of these"),
        (["--baseline", "plain"], "not --baseline plain; name one of these"),
        (["--baseline", "hf", "--candidate", "hf:method=draft"], "--candidate has no meaning beside --record-baseline"),
        (["--baseline", "hf", "--claim", "2"], "--claim has no meaning beside --record-baseline"),
        (["--baseline", "hf:method=draft"], "target 'hf' has no option 'method'; options: device"),
        (["--baseline", "hf:device=none"], "hf:device=none cannot be used here"),
    ],
)
def test_what_cannot_be_recorded_is_refused_in_one_line(tmp_path, capsys, words, told):
    assert harness.main(["run", "smoke", *words, "--record-baseline", str(tmp_path / "a.tape")]) == 2

    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_suite_that_asks_for_no_samples_knows_no_kept_baseline(tmp_path, capsys):
    assert harness.main(["run", "fewshot", "--baseline", "hf", "--record-baseline", str(tmp_path / "a.tape")]) == 2
    assert "must pass, not a kept-transformers; use another suite" in capsys.readouterr().err


def test_a_recording_that_is_stopped_leaves_nothing(recorded, tmp_path, monkeypatch):
    class Stop(Silent):
        def step(self, name):
            if name.endswith("/replays"):
                raise KeyboardInterrupt

    nothing = dict.fromkeys(("candidate", "config", "model", "dtype", "fault"))
    asked = keeping.Options(**nothing, suite=recorded.suite, baseline="hf", seed=0)
    with pytest.raises(KeyboardInterrupt):
        keeping.keep(asked, tmp_path / "a.tape", Stop())

    assert list(tmp_path.iterdir()) == []
