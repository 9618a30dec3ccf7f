"""What the gate said of real engines is read from finished runs, and stands in one block of the page."""

from __future__ import annotations

import pytest

from cases import write_run
from repository import script


@pytest.fixture
def verdicts(tmp_path, monkeypatch):
    module = script("verdicts")
    page = tmp_path / "engines.md"
    page.write_text("# Engines\n", encoding="utf-8")
    monkeypatch.setattr(module, "PAGE", page)
    return module


def test_each_run_is_a_row_with_its_verdict_and_what_holds_it(verdicts, tmp_path):
    passed, held = write_run(tmp_path / "passed"), write_run(tmp_path / "held", verdict="HOLD")
    for _ in range(2):
        assert verdicts.main([f"an engine, k = 4={passed}", f"another={held}"]) == 0

    text = verdicts.PAGE.read_text(encoding="utf-8")
    assert "| an engine, k = 4 | core ab12 | PASS | - | 1.72x [1.65, 1.79] |" in text
    assert "| another | core ab12 | HOLD | CORRECTNESS, `exact_tokens` (b8) | " in text
    assert text.count("written by docs/verdicts.py") == 1


@pytest.mark.parametrize("arguments", [[], ["a run without a name"], ["=folder"], ["name="]])
def test_a_run_without_a_name_or_a_folder_is_refused(verdicts, arguments, capsys):
    assert verdicts.main(arguments) == 2
    assert "usage" in capsys.readouterr().err
