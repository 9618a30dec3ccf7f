"""The two by two names every arm, shows what each has right, and ends with what follows."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from draftgate.canaries.report import attribution


def found(**changes):
    right = {"json_valid": {"asked": 12, "plain": 12, "candidate": 3, "status": "FAIL"}}
    side = {"departs": True, "parity": "9 answers differ", "right": right}
    return {
        "suite": "smoke v1",
        "cell": "greedy-1",
        "candidate": "draft",
        "types": ["float", "int4"],
        "sides": {"float": side | {"departs": False, "parity": "300 tokens equal"}, "int4": side},
        "cause": "interaction",
        "told": "the two do not go together.",
        "plain_changed": 1,
        "asked": 14,
        "fault": None,
        "seed": 0,
    } | changes


def shown(document):
    console = Console(width=80, file=StringIO(), highlight=False)
    attribution.show(document, console)
    return console.file.getvalue()


def test_every_arm_has_its_column_and_every_check_its_row():
    text = shown(found())

    assert all(head in text for head in ("plain float", "draft float", "plain int4", "draft int4"))
    assert ["json_valid", "12", "12", "3", "12", "3"] in [line.split() for line in text.splitlines()]


def test_what_was_seen_on_each_cache_and_what_follows_is_told():
    text = shown(found())

    assert "float: 300 tokens equal" in text
    assert "int4: 9 answers differ" in text
    assert "The cache alone changes 1 of 14 plain answers." in text
    assert text.rstrip().endswith("the two do not go together.")


def test_a_plant_is_told_where_there_is_one():
    assert "Planted on purpose" not in shown(found())
    assert "Planted on purpose: keep-rejected." in shown(found(fault="keep-rejected"))
