"""Identifiers are counted one by one: what plain decoding copies, the candidate must copy."""

import pytest
from kinds import IDS, canary, judged

from draftgate.canaries.checks.identifiers import copied
from draftgate.canaries.contracts import Reason, Status


def figures(asked, baseline, candidate):
    return {"asked": asked, "baseline_right": baseline, "near_ties": 0, "candidate_right": candidate}


def test_every_identifier_is_an_answer():
    finding = judged("identifiers", "identifiers", [IDS, IDS], [IDS, IDS])

    assert finding.status is Status.PASS
    assert figures(16, 16, 16) == finding.figures


@pytest.mark.parametrize("answer", [IDS.replace("d4", "d5"), IDS.removesuffix(" h8"), f"{IDS} i9", f"{IDS} {IDS}"])
def test_one_identifier_lost_fails(answer):
    finding = judged("identifiers", "identifiers", [IDS, IDS], [IDS, answer])

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert figures(16, 16, 15) == finding.figures
    assert ("identifiers-2",) == finding.reproduce


def test_what_plain_decoding_gets_wrong_is_struck_out_by_identifier():
    spoiled = IDS.replace("d4", "d5")

    assert judged("identifiers", "identifiers", [spoiled], [IDS.replace("d4", "??")]).status is Status.PASS
    finding = judged("identifiers", "identifiers", [spoiled], [spoiled.replace("a1", "a2")])
    assert (Status.FAIL, figures(8, 7, 6)) == (finding.status, finding.figures)


def test_space_that_parts_otherwise_loses_nothing():
    finding = judged("identifiers", "identifiers", [IDS], [f"{IDS.replace(' ', chr(10))} "])

    assert finding.status is Status.PASS


def test_too_few_copied_by_plain_decoding_are_incomplete():
    few = "a1 b2 c3"

    assert judged("identifiers", "identifiers", [few], [few]).status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (IDS, set(range(8))),
        ("", set()),
        (f" {IDS}\n", set(range(8))),
        (IDS.replace(" ", "\n"), set(range(8))),
        (IDS.replace(" ", "  "), set(range(8))),
        (f"{IDS} i9", set(range(7))),
        (f"{IDS} i9 j10", set(range(7))),
        (f"{IDS}!", set(range(7))),
        ("z0 " + IDS, set()),
        ("a1 c3 b2", {0}),
    ],
)
def test_an_identifier_counts_in_its_own_place(text, places):
    assert places == copied(canary("identifiers"), text)
