"""Tables are made only of what was found."""

from __future__ import annotations

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


def test_every_status_has_a_word():
    assert set(tables.WORDS) == set(Status)
    assert all(word in tables.LEGEND for word in tables.WORDS.values())
