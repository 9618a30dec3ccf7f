"""Tables are made only of what was found."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from cases import honest_case, honest_findings
from draftgate.canaries.contracts import Finding, Status
from draftgate.canaries.report import tables
from draftgate.canaries.summary import summarise


def cells(**changes):
    return summarise(honest_case(**changes))["cells"]


def column(table, place):
    return [text.plain for text in table.columns[place].cells]


def test_a_check_made_twice_shows_its_worst():
    again = Finding(check="exact_tokens", cell="b1", status=Status.INCONCLUSIVE, summary="")

    table = tables.matrix(cells(findings=[*honest_findings(), again]))

    assert column(table, 1)[0] == "open"
    assert column(table, 2)[0] == "pass"


def test_required_checks_carry_an_asterisk_and_others_do_not():
    assert column(tables.matrix(cells()), 0) == ["exact_tokens*", "speed*", "acceptance", "law"]


def test_there_is_no_table_of_times_where_none_were_measured():
    assert tables.speed(cells()).row_count == 4
    assert tables.speed(cells(findings=[])) is None


def test_times_tell_how_many_drafts_were_kept_beside_the_candidate_alone():
    figures = {"accepted": 830, "proposed": 834}
    told = Finding(check="acceptance", cell="b1", status=Status.PASS, summary="", figures=figures)
    listed = [finding for finding in honest_findings() if finding.check != "acceptance"]

    assert column(tables.speed(cells(findings=[*listed, told])), -1) == ["", "830/834", "", ""]


def test_every_status_has_a_word():
    assert set(tables.WORDS) == set(Status)
    assert all(word in tables.LEGEND for word in tables.WORDS.values())


def lines(rows, width=80):
    console = Console(width=width, file=StringIO(), highlight=False)
    console.print(tables.choices(rows))
    return console.file.getvalue().splitlines()


def test_a_name_is_not_broken_and_a_sentence_is():
    found = lines([{"code": "F04", "name": "verify-at-unit-temperature", "summary": "word " * 30}])

    assert any("verify-at-unit-temperature" in line for line in found)
    assert len(found) > 4
    assert max(map(len, found)) <= 80


def test_more_columns_than_have_room_stand_below_one_another():
    row = {"name": "plain", "candidate": True, "launched": False, "options": (), "a": "b", "c": "d", "e": "f " * 50}
    found = [line.strip() for line in lines([row, row])]

    assert found.count("candidate  yes") == found.count("launched   no") == 2
    assert not any(line.startswith("options") for line in found)
