"""What every check rests on."""

from dataclasses import replace

import pytest
from observed import case, record, served, suite

from draftgate.canaries.checks.base import demanded_of, not_observed, worst
from draftgate.canaries.contracts import Reason, Status
from draftgate.stats.decision import Decision

PASS, FAIL, OPEN = Decision.PASS, Decision.FAIL, Decision.INCONCLUSIVE


def test_the_worst_decision_stands():
    assert worst([PASS, PASS]) is Status.PASS
    assert worst([PASS, OPEN]) is Status.INCONCLUSIVE
    assert worst([OPEN, FAIL, PASS]) is Status.FAIL


def test_no_decision_at_all_is_no_pass():
    assert worst([]) is Status.INCONCLUSIVE


def test_what_was_not_observed_is_incomplete():
    finding = not_observed("law", case(record()))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE, "greedy") == (finding.status, finding.reason, finding.cell)


def test_what_a_candidate_without_speculation_lacks_was_not_exercised():
    assert not_observed("law", case(record(), k=0)).status is Status.NOT_EXERCISED


def test_an_observation_of_the_cell_comes_before_one_of_the_run():
    observations = {"greedy/knobs": 1, "knobs": 2, "pairs": 3}

    assert (1, 3, None) == tuple(case(observations).observed(name) for name in ("knobs", "pairs", "rows"))


def test_a_candidate_without_a_draft_length_does_not_speculate():
    assert case(record(), k=0).draft_length == 0


@pytest.mark.parametrize(("kept", "lists"), [(False, "server"), (True, "kept-server")])
def test_what_must_be_passed_depends_on_whether_the_baseline_was_kept(kept, lists):
    made = case(served(), of=replace(suite(), required={"server": suite().required["server"]}), kind="server")
    header = {**made.header, "baseline": {"kept": {}}} if kept else made.header

    assert (kept, lists) == (replace(made, header=header).kept, demanded_of(header))
