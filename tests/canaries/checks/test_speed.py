"""Times in pairs give a ratio; times that cannot be give none."""

import math
from dataclasses import replace

import pytest
from observed import GREEDY, candidate, generation, judged, pairs, record, run, served, spoiled, suite

from draftgate.canaries.contracts import Reason, Status


def candidate_times(factor):
    def change(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for call in group["runs"]:
                scale = factor if call["arm"] == "candidate" else 1.0
                call["wall"] *= scale
                for answer in call["generations"]:
                    answer["arrivals"] = [[seconds * scale, tokens] for seconds, tokens in answer["arrivals"]]

    return change


def slower(call, factor):
    for answer in call["generations"]:
        answer["arrivals"] = [[seconds * factor, tokens] for seconds, tokens in answer["arrivals"]]
    return call | {"wall": factor * call["wall"]}


def test_the_ratio_is_baseline_over_candidate():
    finding = judged("speed", record())

    assert finding.status is Status.PASS
    assert math.isclose(0.20 / 0.11, finding.figures["ratio"])
    assert (2, 1.0, 1.0) == tuple(finding.figures[key] for key in ("pairs", "aa_low", "aa_high"))


def test_a_baseline_that_runs_once_more_is_held_against_itself_and_takes_no_part_in_the_ratio():
    chosen = suite()
    cell = replace(GREEDY, repeats=1, again=2)
    chosen = replace(chosen, cells=(cell, *chosen.cells[1:]))
    observed = pairs(cell)
    for group in observed["groups"]:
        once_more = run("baseline", 1, [generation(name, kept=None) for name in group["canaries"]])
        group["runs"].append(slower(once_more, 3.0))

    figures = judged("speed", record() | {"greedy/pairs": observed}, of=chosen).figures

    assert math.isclose(0.20 / 0.11, figures["ratio"])
    assert math.isclose(1 / 3, figures["aa_low"])
    assert math.isclose(1 / 3, figures["aa_high"])


def test_a_slower_candidate_is_measured_not_failed():
    finding = judged("speed", spoiled(candidate_times(4.0)))

    assert finding.status is Status.PASS
    assert math.isclose(0.20 / 0.44, finding.figures["ratio"])


def test_the_decode_rate_leaves_the_first_chunk_out():
    figures = judged("speed", record()).figures["baseline"]

    assert math.isclose(100.0, figures["decode_tok_s"])
    assert math.isclose(0.01, figures["ttft_s"])
    assert math.isclose(0.20, figures["e2e_s"])


@pytest.mark.parametrize(
    "change",
    [
        candidate_times(0.0),
        lambda o: candidate(o)["arrivals"].clear(),
        lambda o: candidate(o).update(tokens=[]),
        lambda o: candidate(o).update(arrivals=[[-1.0, 20]]),
        lambda o: candidate(o)["arrivals"].append([None, 0]),
    ],
    ids=["no time passed", "no stream", "no tokens", "negative time", "no number"],
)
def test_times_that_cannot_be_are_incomplete(change):
    finding = judged("speed", spoiled(change))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_one_pair_has_no_interval():
    finding = judged("speed", record(), "sampled")

    assert (1, None, None) == tuple(finding.figures[key] for key in ("pairs", "low", "high"))


def walls(factor):
    def change(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for call in group["runs"]:
                call["wall"] *= factor if call["arm"] == "candidate" else 1.0

    return change


@pytest.mark.parametrize("factor", [0.5, 3.0], ids=["the stream ends after the call", "the stream is in another unit"])
def test_a_stream_that_does_not_fit_the_harness_own_clock_is_a_fault(factor):
    finding = judged("speed", spoiled(walls(factor)))

    assert (Status.FAIL, Reason.METRICS) == (finding.status, finding.reason)
    assert "a candidate stream says it took" in finding.summary


@pytest.mark.parametrize(("factor", "status"), [(3.0, Status.PASS), (0.5, Status.FAIL)])
def test_a_server_is_not_blamed_for_a_machine_that_was_busy_before_its_request_was_sent(factor, status):
    observations = served()
    walls(factor)(observations)

    assert judged("speed", observations, kind="server").status is status


def test_a_ratio_that_the_target_passes_do_not_allow_is_a_fault():
    """The honest record emits 20 tokens in 11 passes: answers twenty times as fast came from somewhere else."""
    finding = judged("speed", spoiled(candidate_times(0.05)))

    assert (Status.FAIL, Reason.METRICS) == (finding.status, finding.reason)
    assert "is faster than 1.8" in finding.summary


def test_beside_a_kept_baseline_no_ratio_is_claimed():
    finding = judged("speed", record(), kept=True)

    assert finding.status is Status.NOT_APPLICABLE
    assert finding.figures["ratio"] is None
    assert finding.figures["candidate"]["e2e_s"] > 0
    assert "correctness only; no ratio claimed" in finding.summary
