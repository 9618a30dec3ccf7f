"""The command prints what its document holds, by the document or on a terminal."""

import io
import json

import pytest
from measured import ROWS, TURNS, WIDTHS, document
from rich.console import Console

from draftgate import harness
from draftgate.canaries.roofline import command


@pytest.fixture
def kept(tmp_path):
    """A file of times."""
    file = tmp_path / "costs.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    return file


def screen(found, width=100):
    stream = io.StringIO()
    command.show(found, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


def test_a_device_is_worked_out_as_one_document(capsys):
    assert 0 == harness.main(["roofline", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert {"intensity": 1.0, "ridge": pytest.approx(295.2, abs=0.05)}.items() <= {
        row["figure"]: row["value"] for row in found["figures"]
    }.items()
    assert found["device"]["name"] == "h100-sxm5"


def test_a_device_is_shown_with_its_figures(capsys):
    assert 0 == harness.main(["roofline", "rtx-5090", "--draft", "1e9"])

    text = capsys.readouterr().out
    assert "NVIDIA GeForce RTX 5090 32 GB: 209.5 TFLOP/s, 1.792 TB/s" in text
    assert "116.9" in text
    assert "Break-even batch: " in text


def test_what_was_measured_is_told_again_with_its_intervals(kept, capsys):
    assert 0 == harness.main(["roofline", "--measured", str(kept), "--json"])

    found = json.loads(capsys.readouterr().out)
    assert TURNS == found["turns"]
    assert len(ROWS) * (len(WIDTHS) + 1) == len(found["passes"])
    assert max(ROWS) == found["batches"][-1]["batch"]  # no batch is looked at that is larger than was measured
    assert found["break_even"]["low"] <= found["break_even"]["batch"] <= found["break_even"]["high"]
    text = screen(found)
    assert "It reads 1.05 [" in text
    assert "smallest pass reads weights at" in text
    assert f"{TURNS} turns, 95% intervals, processor time" in text
    assert "Break-even batch: " in text


@pytest.mark.slow
def test_this_machine_is_measured_and_kept(tmp_path, capsys):
    file = tmp_path / "costs.json"
    asked = ["roofline", "--measure", "--rows", "1,2", "--widths", "1,3", "--turns", "5", "--save", str(file), "--json"]
    assert 0 == harness.main(asked)
    first = json.loads(capsys.readouterr().out)

    assert 0 == harness.main(["roofline", "--measured", str(file), "--json"])
    assert first == json.loads(capsys.readouterr().out)
    wide = next(row for row in first["passes"] if (row["model"], row["rows"], row["width"]) == ("target", 2, 3))
    assert wide["wider"] > 1
