"""What is printed is one line of printable characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.canaries.report.text import above, clean, interval, number, odds, on_what, prediction, speed_line, where


@given(st.text())
def test_a_cleaned_text_is_one_printable_line(text):
    assert all(char.isprintable() or char.isspace() for char in clean(text))
    assert len(clean(text).splitlines()) <= 1


def test_ordinary_text_stays_as_it_is():
    assert clean("größe 大 [b] \\n 'x'") == "größe 大 [b] \\n 'x'"


def test_what_moves_the_cursor_is_spelled_out():
    assert clean("\x1b[2J\n\u202e\x00") == r"\x1b[2J\n\u202e\x00"


@pytest.mark.parametrize(("value", "text"), [(1.234, "1.23"), (None, "-"), ("1", "-"), (True, "-"), (2, "2.00")])
def test_a_number_is_formatted_and_anything_else_a_dash(value, text):
    assert number(value) == text


def test_an_interval_shows_both_ends_even_when_one_is_missing():
    assert interval(1.0, None) == "[1.00, -]"


def test_a_speed_says_what_it_rests_on_and_how_servers_were_launched():
    headline = {"low": 1.5, "high": 1.8, "confidence": 0.95, "pairs": 84, "cell": "greedy-1"}
    told = "[1.50, 1.80] at 95% confidence, 84 pairs, cell greedy-1"

    assert told == speed_line(headline)
    assert told == speed_line(headline | {"launches": None})
    assert f"{told}, launched in turn, 2 launches each" == speed_line(headline | {"launches": 2})


@pytest.mark.parametrize(("rate", "text"), [(1e-6, "once in 1,000,000 runs"), (0, "none can alarm falsely")])
def test_the_false_alarm_rate_is_told_as_odds(rate, text):
    assert text in odds(rate)


def test_a_place_names_its_cells_if_it_has_any():
    assert where("law", ["b1", "b8"]) == "law (b1, b8)"
    assert where("law", []) == "law"


def test_a_server_is_named_by_its_model_and_its_replicas():
    def arm(*replicas):
        return {"server": {"model": "models/tiny.gguf", "replicas": replicas}}

    assert on_what({"baseline": arm("a"), "candidate": arm("a", "b")}) == [
        "baseline serves tiny.gguf, 1 replica",
        "candidate serves tiny.gguf, 2 replicas",
    ]


def test_a_kept_baseline_is_told_with_its_hour_and_its_digest():
    identity = {"baseline": {"kept": {"recorded": "2026-11-30", "sha256": "ab" * 32}}, "candidate": {}}

    assert on_what(identity) == ["baseline kept since 2026-11-30, sha256 abababababab"]


FORETOLD = {"ratio": 1.9, "low": 1.85, "high": 1.95, "tokens_a_round": 5.0, "wider": 1.4, "width": 5.0, "c": 0.2}


def test_a_prediction_is_said_with_what_it_rests_on():
    assert "1.90x  [1.85, 1.95] from 5.00 tokens a round that costs 1.40 + 5 x 0.20 plain steps" == prediction(FORETOLD)


def test_what_lies_above_its_bound_is_said_to_and_nothing_else_is():
    within, beyond = (FORETOLD | {"exceeded": exceeded} for exceeded in (False, True))

    assert "" == above(within, None) == above(within, 1.9)
    assert "The claim lies above what these rounds and their costs allow, 1.95x." == above(within, 3.0)
    assert "The measured speed lies above what these rounds and their costs allow." == above(beyond, None)
