"""The table of a campaign on the page of results."""

import json

import pytest

from repository import script


@pytest.fixture
def page(tmp_path, monkeypatch):
    module = script("samplers")
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results.md")
    module.RESULTS.write_text("# Results\n\nOther figures.\n", encoding="utf-8")
    return module


def line(name, verdict, **more):
    told = {
        "name": name,
        "seed": 0,
        "verdict": verdict,
        "checks": ["wager"],
        "seconds": 1.26,
        "draws": 7,
        "p_values": [],
    }
    return json.dumps(told | more) + "\n"


def test_the_block_is_put_at_the_end_and_rewritten_in_place(page, tmp_path):
    file = tmp_path / "campaign.jsonl"
    file.write_text(line("argmax", "HOLD"))
    page.main([str(file)])
    page.RESULTS.write_text(page.RESULTS.read_text() + "\nMore.\n")
    file.write_text(line("argmax", "HOLD") + line("token", "PASS", checks=[], p_values=[0.005, 0.5, 0.7]))
    page.main([str(file)])
    text = page.RESULTS.read_text()

    assert text.startswith("# Results\n\nOther figures.\n")
    assert text.endswith("\nMore.\n")
    assert 1 == text.count(page.BEGIN)
    assert "| A F04 | argmax | the target is taken at T = 0 | 1 | 1 | wager | 7 | 1.3 |" in text
    assert "of 3 p-values of honest runs, a share of 0.0000 below 0.001, 0.3333 below 0.01" in text


def test_without_a_file_the_usage_is_told(page):
    assert 2 == page.main([])


def test_what_is_measured_now_has_a_block_of_its_own(page, monkeypatch):
    monkeypatch.setattr(page.fine, "measured", lambda effect: ([f"off by {effect}: found"], True))
    page.main(["--fine"])
    text = page.RESULTS.read_text()

    assert text.startswith("# Results\n\nOther figures.\n")
    assert f"{page.FINE}\nHow fast" in text
    assert "- off by 0.002: found\n" in text


def test_a_measurement_that_failed_is_not_written(page, monkeypatch):
    monkeypatch.setattr(page.fine, "measured", lambda _: (["honest: p = 0"], False))
    with pytest.raises(SystemExit, match="honest"):
        page.main(["--fine"])

    assert "How fast" not in page.RESULTS.read_text()
