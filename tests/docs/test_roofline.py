"""The picture and the table are those of what was measured."""

import json

import pytest
from measured import ROWS, document

from repository import script


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    module = script("roofline")
    (tmp_path / "results.md").write_text("# Results\n", encoding="utf-8")
    (tmp_path / "costs.json").write_text(json.dumps(document()), encoding="utf-8")
    monkeypatch.setattr(module, "HERE", tmp_path)
    assert 0 == module.main([str(tmp_path / "costs.json")])
    return tmp_path


def test_the_table_has_a_row_for_every_batch_that_was_measured(drawn):
    text = (drawn / "results.md").read_text(encoding="utf-8")

    assert text.startswith("# Results")
    assert all(f"| {rows} |" in text for rows in ROWS)
    assert "machine that was busy with other work" in text
    assert "Speculation pays up to batch " in text


def test_the_picture_draws_this_machine_only_as_far_as_it_was_measured(drawn):
    text = (drawn / "roofline.svg").read_text(encoding="utf-8")

    devices = len(script("roofline").BATCHES)
    assert devices + sum(batch <= max(ROWS) for batch in script("roofline").BATCHES) == text.count("<circle")
    assert "speed-up, a = 0.8, K = 4" in text


def test_without_a_file_it_says_how_it_is_used(capsys):
    assert 2 == script("roofline").main([])
    assert "usage: python docs/roofline.py FILE" in capsys.readouterr().err
