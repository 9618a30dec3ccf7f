"""The verdict is PASS on evidence and on nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.canaries.contracts import Finding, Reason, Status, Verdict
from draftgate.canaries.gate import CellVerdict, cell_verdict, judge, run_verdict
from draftgate.canaries.reasons import CULPRITS, REASONS

CHECKS = ("greedy", "law", "algebra", "speed")


def finding(check="greedy", status=Status.PASS, reason=None, cell="c1", **more):
    return Finding(check=check, cell=cell, status=status, summary=f"{check} is {status}", reason=reason, **more)


def reasons(verdict):
    return [because.reason for because in verdict.reasons]


def test_a_cell_passes_when_every_required_check_passed():
    verdict = cell_verdict("c1", [finding("greedy"), finding("law")], {"greedy", "law"})

    assert verdict == CellVerdict(cell="c1", verdict=Verdict.PASS)


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (Status.FAIL, Reason.DISTRIBUTION, Reason.DISTRIBUTION),
        (Status.FAIL, None, Reason.CORRECTNESS),
        (Status.INCONCLUSIVE, Reason.BASELINE_UNSTABLE, Reason.BASELINE_UNSTABLE),
        (Status.INCONCLUSIVE, None, Reason.INCOMPLETE),
        (Status.NOT_EXERCISED, None, Reason.NOT_EXERCISED),
        (Status.NOT_APPLICABLE, None, Reason.INCOMPLETE),
        (Status.NOT_APPLICABLE, Reason.CORRECTNESS, Reason.INCOMPLETE),
    ],
)
def test_a_required_check_that_did_not_pass_holds_with_its_reason(status, reason, expected):
    verdict = cell_verdict("c1", [finding("greedy", status, reason), finding("law")], {"greedy", "law"})

    assert verdict.verdict == Verdict.HOLD
    assert reasons(verdict) == [expected]


def test_a_required_check_that_was_not_made_holds():
    verdict = cell_verdict("c1", [finding("greedy")], {"greedy", "law"})

    assert reasons(verdict) == [Reason.INCOMPLETE]
    assert verdict.reasons[0].check == "law"


def test_a_check_made_in_another_cell_counts_for_nothing_here():
    verdict = cell_verdict("c1", [finding("greedy", cell="c2")], {"greedy"})

    assert verdict.verdict == Verdict.HOLD


def test_an_optional_check_that_fails_holds_too():
    verdict = cell_verdict("c1", [finding("greedy"), finding("extra", Status.FAIL, Reason.METRICS)], {"greedy"})

    assert reasons(verdict) == [Reason.METRICS]


def test_an_optional_check_that_is_undecided_does_not_hold():
    verdict = cell_verdict("c1", [finding("greedy"), finding("extra", Status.INCONCLUSIVE)], {"greedy"})

    assert verdict.verdict == Verdict.PASS


def test_a_second_finding_cannot_outvote_a_first_that_did_not_pass():
    findings = [finding("greedy", Status.INCONCLUSIVE), finding("greedy")]

    assert cell_verdict("c1", findings, {"greedy"}).verdict == Verdict.HOLD


def test_a_cell_of_which_nothing_is_required_holds():
    assert reasons(cell_verdict("c1", [finding("greedy")], ())) == [Reason.INCOMPLETE]


findings_of_a_cell = st.lists(
    st.builds(
        finding,
        st.sampled_from(CHECKS),
        st.sampled_from(Status),
        st.none() | st.sampled_from(Reason),
        cell=st.sampled_from(["c1", "c2"]),
    )
)


@given(findings_of_a_cell, st.sets(st.sampled_from(CHECKS)))
def test_nothing_but_passes_of_every_required_check_passes(findings, required):
    here = [f for f in findings if f.cell == "c1"]
    passed = {f.check for f in here if f.status == Status.PASS}
    others = [f for f in here if f.status != Status.PASS and (f.check in required or f.status == Status.FAIL)]
    expected = bool(required) and required <= passed and not others

    verdict = cell_verdict("c1", findings, required)

    assert (verdict.verdict == Verdict.PASS) == expected
    assert bool(verdict.reasons) != expected


@given(findings_of_a_cell, st.sets(st.sampled_from(CHECKS)), st.sampled_from(["SAME_TOKENS", "OWN_LAW", "NONE", ""]))
def test_a_run_passes_only_if_each_of_its_cells_does(findings, required, guarantee):
    asked = {"c1": required, "c2": required}

    run = judge(["c1", "c2"], findings, asked, guarantee=guarantee)

    alone = {cell: cell_verdict(cell, findings, required).verdict for cell in asked}
    expected = guarantee == "SAME_TOKENS" and set(alone.values()) == {Verdict.PASS}
    assert (run.verdict == Verdict.PASS) == expected


@given(findings_of_a_cell, st.sets(st.sampled_from(CHECKS)))
def test_one_more_finding_never_turns_a_hold_that_failed_into_a_pass(findings, required):
    failing = finding("law", Status.FAIL, Reason.DISTRIBUTION)

    assert cell_verdict("c1", [*findings, failing], required).verdict == Verdict.HOLD


def test_no_cells_is_a_hold():
    assert reasons(run_verdict([])) == [Reason.INCOMPLETE]
    assert judge([], [], {}, guarantee="SAME_TOKENS").verdict == Verdict.HOLD


def test_a_run_is_as_good_as_its_worst_cell():
    good = CellVerdict(cell="c1", verdict=Verdict.PASS)
    lossy = CellVerdict(cell="c2", verdict=Verdict.LOSSY)
    held = cell_verdict("c3", [], {"greedy"})

    assert run_verdict([good]).verdict == Verdict.PASS
    assert run_verdict([good, lossy]).verdict == Verdict.LOSSY
    assert run_verdict([lossy, held, good]).verdict == Verdict.HOLD


def test_a_finding_in_a_cell_nobody_announced_is_not_overlooked():
    run = judge(
        ["c1"], [finding(), finding(status=Status.FAIL, cell="c9")], {"c1": {"greedy"}}, guarantee="SAME_TOKENS"
    )

    assert run.verdict == Verdict.HOLD
    assert [cell.cell for cell in run.cells] == ["c1", "c9"]


@pytest.mark.parametrize("guarantee", ["SAME_TOKENS", "SAME_LAW"])
def test_a_candidate_that_promises_the_targets_law_can_pass(guarantee):
    assert judge(["c1"], [finding()], {"c1": {"greedy"}}, guarantee=guarantee).verdict == Verdict.PASS


@pytest.mark.parametrize("guarantee", ["OWN_LAW", "NONE", "", "same_law"])
def test_a_candidate_that_promises_less_is_lossy_whatever_it_passes(guarantee):
    passing = judge(["c1"], [finding()], {"c1": {"greedy"}}, guarantee=guarantee)
    failing = judge(
        ["c1"], [finding(status=Status.FAIL, reason=Reason.DISTRIBUTION)], {"c1": {"greedy"}}, guarantee=guarantee
    )

    assert passing.verdict == Verdict.LOSSY
    assert failing.verdict == Verdict.LOSSY
    assert reasons(failing) == [Reason.DISTRIBUTION]


@pytest.mark.parametrize("low", [1.5, 1.7])
def test_a_claim_at_or_below_the_interval_passes(low):
    verdict = cell_verdict("c1", [finding("speed", figures={"low": low})], {"speed"}, claim=1.5)

    assert verdict.verdict == Verdict.PASS


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"low": 1.49}, Reason.SPEED_UNSUPPORTED),
        ({}, Reason.INCOMPLETE),
        ({"low": None}, Reason.INCOMPLETE),
        ({"low": math.nan}, Reason.INCOMPLETE),
        ({"low": math.inf}, Reason.INCOMPLETE),
        ({"low": "1.9"}, Reason.INCOMPLETE),
    ],
)
def test_a_claim_the_interval_does_not_support_holds(figures, expected):
    verdict = cell_verdict("c1", [finding("speed", figures=figures)], {"speed"}, claim=1.5)

    assert reasons(verdict) == [expected]


def test_a_claim_without_any_measured_speed_holds():
    run = judge(["c1"], [finding()], {"c1": {"greedy"}}, guarantee="SAME_LAW", claim=1.1)

    assert reasons(run) == [Reason.INCOMPLETE]


def test_a_claim_concerns_every_cell_that_measured_speed_and_no_other():
    findings = [finding(), finding("speed", cell="c2", figures={"low": 1.9})]
    required = {"c1": {"greedy"}, "c2": {"speed"}}

    assert judge(["c1", "c2"], findings, required, guarantee="SAME_LAW", claim=1.8).verdict == Verdict.PASS
    assert judge(["c1", "c2"], findings, required, guarantee="SAME_LAW", claim=2.0).verdict == Verdict.HOLD


def test_no_claim_no_complaint_about_a_slow_candidate():
    slow = finding("speed", figures={"low": 0.7})

    assert cell_verdict("c1", [slow], {"speed"}).verdict == Verdict.PASS


@given(findings_of_a_cell)
def test_the_engine_is_named_before_the_baseline_and_the_baseline_before_the_evidence(findings):
    run = judge(["c1", "c2"], findings, {"c1": set(CHECKS), "c2": set(CHECKS)}, guarantee="SAME_TOKENS")
    ranks = [CULPRITS.index(REASONS[because.reason].culprit) for because in run.reasons]

    assert ranks == sorted(ranks)


def test_a_reason_carries_what_reproduces_it():
    failing = finding(status=Status.FAIL, reason=Reason.CORRECTNESS, reproduce=("json-03", "json-07"))

    assert cell_verdict("c1", [failing], {"greedy"}).reasons[0].reproduce == ("json-03", "json-07")
