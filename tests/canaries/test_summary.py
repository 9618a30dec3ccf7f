"""The summary says what was judged, fits its schema, and is refused when it or its record was touched."""

from __future__ import annotations

import copy
import json
import math
import platform

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import ACCEPTANCE, HEADER, SPEED, failing, held_case, honest_case, passing, write_run
from draftgate.canaries import documents, record, summary
from draftgate.canaries.contracts import Reason, Verdict
from draftgate.canaries.errors import CannotJudge, RecordBroken


def test_an_honest_case_passes_with_nobody_at_fault():
    found = summary.summarise(honest_case())

    assert (found["verdict"], found["culprit"], found["reasons"]) == ("PASS", None, [])


def test_a_case_with_a_fault_is_held_and_the_engine_named():
    found = summary.summarise(held_case())

    assert (found["verdict"], found["culprit"]) == ("HOLD", "engine")
    assert found["reasons"] == [
        {
            "reason": "CORRECTNESS",
            "check": "exact_tokens",
            "cell": "b8",
            "summary": "exact_tokens failed",
            "reproduce": ["json-03", "json-07"],
        }
    ]
    assert [cell["verdict"] for cell in found["cells"]] == ["PASS", "HOLD"]


def test_the_headline_is_the_first_cells_speed():
    keys = ("ratio", "low", "high", "aa_low", "aa_high", "confidence", "pairs")

    assert summary.summarise(honest_case())["headline"] == {"cell": "b1"} | {key: SPEED[key] for key in keys} | {
        "launches": None,
        "predicted": None,
    }
    assert summary.summarise(honest_case(cells=("b8", "b1")))["headline"]["cell"] == "b8"


def test_without_a_measured_speed_there_is_no_headline():
    found = summary.summarise(honest_case(findings=[passing("exact_tokens", "b1")], cells=("b1",)))

    assert found["headline"] is None
    assert found["verdict"] == "HOLD"


def test_acceptance_is_the_first_cells():
    assert summary.summarise(honest_case())["acceptance"] == {"cell": "b1"} | ACCEPTANCE


def test_what_was_not_looked_at_is_said_once_with_its_cells_and_why():
    assert summary.summarise(honest_case())["not_looked_at"] == [
        {"what": "law", "cells": ["b1", "b8"], "why": "greedy decoding has no law to test"},
        {"what": "servers under load", "cells": [], "why": ""},
    ]


def test_only_checks_that_passed_say_what_they_would_have_seen():
    findings = [passing("exact_tokens", "b1", seen="1 in 500"), failing("law", "b1", seen="a distance of 0.1")]

    found = summary.summarise(honest_case(findings=findings, cells=("b1",)))

    assert found["seen"] == [{"check": "exact_tokens", "cells": ["b1"], "seen": "1 in 500"}]


def test_the_false_alarm_rate_is_the_whole_ledger():
    found = summary.summarise(honest_case())

    assert found["false_alarm"] == pytest.approx(1e-6, rel=1e-12)
    assert found["ledger"] == [{"test": "law", "share": 6e-7}, {"test": "forks", "share": 4e-7}]


def test_the_identity_is_the_headers():
    expected = {key: HEADER[key] for key in ("suite", "baseline", "candidate", "seed")}

    assert summary.summarise(honest_case())["identity"] == expected


def test_a_lossy_candidate_never_passes():
    found = summary.summarise(honest_case(guarantee="NONE"))

    assert found["verdict"] == "LOSSY"
    assert found["culprit"] is None


def test_a_claim_above_the_interval_is_held_and_one_below_passes():
    assert summary.summarise(honest_case(claim=1.6))["verdict"] == "PASS"
    assert summary.summarise(honest_case(claim=1.7))["reasons"][0]["reason"] == "SPEED_UNSUPPORTED"


def test_numbers_that_are_not_finite_become_null_and_cannot_carry_a_claim():
    findings = [
        passing("exact_tokens", "b1"),
        passing("speed", "b1", figures=SPEED | {"ratio": math.inf, "low": math.nan}),
    ]

    found = summary.summarise(honest_case(findings=findings, cells=("b1",), claim=1.1))

    assert (found["headline"]["ratio"], found["headline"]["low"]) == (None, None)
    assert found["reasons"][0]["reason"] == "INCOMPLETE"
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_summary_is_read_as_it_was_written(tmp_path):
    run = write_run(tmp_path / "run")

    assert summary.read(run)["verdict"] == "PASS"
    assert summary.read(run)["record_sha256"] == record.read(run).sha256


def spoiled(found, path, value):
    spoiled = copy.deepcopy(found)
    *way, last = path
    place = spoiled
    for step in way:
        place = place[step]
    place[last] = value
    return spoiled


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["verdict"], "pass"),
        (["verdict"], "MAYBE"),
        (["culprit"], "nobody"),
        (["culprit"], "engine"),
        (["guarantee"], "NONE"),
        (["cells"], []),
        (["cells", 0, "verdict"], "HOLD"),
        (["cells", 0, "findings", 0, "status"], "passed"),
        (["headline", "ratio"], "1.72"),
        (["record_sha256"], "0"),
        (["seconds"], -1),
        (["extra"], 1),
        (["schema"], 0),
    ],
)
def test_a_summary_that_does_not_fit_its_schema_is_neither_written_nor_read(tmp_path, path, value):
    run = write_run(tmp_path / "run")
    wrong = spoiled(summary.read(run), path, value)

    with pytest.raises(RecordBroken, match="does not fit the schema"):
        summary.write(wrong, run)
    (run / summary.NAME).write_text(json.dumps(wrong))
    with pytest.raises(RecordBroken, match="does not fit the schema"):
        summary.read(run)


def test_a_held_summary_cannot_be_made_a_pass_by_its_first_word(tmp_path):
    run = write_run(tmp_path / "run", verdict="HOLD")

    with pytest.raises(RecordBroken):
        summary.write(summary.read(run) | {"verdict": "PASS"}, run)


def test_a_newer_schema_is_refused_in_one_line(tmp_path):
    run = write_run(tmp_path / "run")
    (run / summary.NAME).write_text(json.dumps(summary.read(run) | {"schema": 2}))

    with pytest.raises(RecordBroken, match=r"schema 2.*upgrade"):
        summary.read(run)


@pytest.mark.parametrize("text", ["", "{", "NaN", "[]"])
def test_a_summary_that_is_not_a_document_is_refused(tmp_path, text):
    run = write_run(tmp_path / "run")
    (run / summary.NAME).write_text(text)

    with pytest.raises(RecordBroken):
        summary.read(run)


def test_a_record_changed_after_it_was_judged_is_seen(tmp_path):
    run = write_run(tmp_path / "run")
    path = run / record.NAME
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1'))

    with pytest.raises(RecordBroken, match="changed after it was judged"):
        summary.read(run)


def test_a_run_without_a_summary_says_how_to_get_one(tmp_path):
    with pytest.raises(CannotJudge, match="--resume"):
        summary.read(tmp_path)


def test_every_reason_and_verdict_is_in_the_schema():
    schema = documents._validator("summary").schema["$defs"]

    assert set(schema["reason"]["enum"]) == set(Reason)
    assert set(schema["verdict"]["enum"]) == set(Verdict)


@given(st.sampled_from(Reason), st.text(), st.floats(), st.sampled_from(["SAME_LAW", "OWN_LAW"]))
def test_whatever_a_check_says_the_summary_fits_its_schema_and_holds(reason, text, number, guarantee):
    wrong = failing("law", "b1", reason, reproduce=(text,), figures={text: number}, evidence=({"p": number},))

    found = summary.summarise(honest_case(findings=[wrong], guarantee=guarantee))

    assert found["verdict"] != "PASS"
    assert documents.decode(documents.encode(found)) == found


@pytest.mark.parametrize(("python", "told"), [("3.0.0", True), (platform.python_version(), False), (None, False)])
def test_a_difference_names_both_pythons_where_programs_may_end_otherwise(python, told):
    machine = {"machine": {"python": python}} if python else {}
    stored = summary.summarise(honest_case(header=HEADER | machine))
    again = summary.summarise(held_case(header=HEADER | machine))

    found = summary.difference(stored, again)
    assert found.startswith("verdict: ")
    assert (f"judged under Python {platform.python_version()}, recorded under 3.0.0" in found) == told


def test_another_python_alone_is_no_difference():
    stored = summary.summarise(honest_case(header=HEADER | {"machine": {"python": "3.0.0"}}))

    assert summary.difference(stored, stored | {"seconds": 1.0}) is None
