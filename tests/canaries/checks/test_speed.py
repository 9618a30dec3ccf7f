"""Times in pairs give a ratio; times that cannot be give none."""

import math
from dataclasses import replace

import pytest
from observed import (
    GREEDY,
    candidate,
    case_in_turn,
    generation,
    in_turn,
    judged,
    pairs,
    record,
    run,
    served,
    spoiled,
    suite,
)

from draftgate.canaries.checks.registry import CHECKS, judge
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


def in_blocks(change=lambda _: None, cell="greedy", of=None):
    """What is said of arms that were launched in turn, after `change` was made to the record."""
    observations = in_turn()
    change(observations)
    return judge(CHECKS["speed"], case_in_turn(observations, cell, of=of))


def second_launch(factor):
    """The candidate's second launch takes that many times as long."""

    def change(observations):
        block = observations["greedy/block/2"]
        block["runs"] = [slower(one, factor) for one in block["runs"]]

    return change


def test_arms_that_are_launched_in_turn_are_told_with_their_launches():
    finding = in_blocks()

    assert finding.status is Status.PASS
    assert finding.summary.endswith("over 2 pairs, launched in turn, 2 launches each")
    assert math.isclose(0.20 / 0.11, finding.figures["ratio"])
    assert math.isclose(0.20 / 0.11, finding.figures["low"])
    assert 2 == finding.figures["launches"]
    assert judged("speed", record()).figures["launches"] is None


def test_the_interval_holds_what_differs_between_launches():
    figures = in_blocks(second_launch(1.02)).figures
    half = 12.706204736174694 * math.log(1.02) / 2  # t at 95 % and one degree of freedom, over two launch pairs

    assert math.isclose(0.20 / 0.11 / math.sqrt(1.02), figures["ratio"])
    assert figures["ratio"] / figures["low"] > math.exp(half)
    assert figures["high"] / figures["ratio"] > math.exp(half)


def test_one_launch_of_an_arm_is_too_few_to_claim_a_speed():
    def change(observations):
        observations["greedy/block/2"]["launched"] = observations["greedy/block/1"]["launched"]

    finding = in_blocks(change)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "not claimed: the candidate was launched 1 time, and the spread between launches takes 2" in finding.summary


def test_a_launch_is_held_against_another_launch_of_the_same_arm():
    """Repeats within a launch say nothing of launches; what the baseline answers again in its other launch does."""
    assert in_blocks().figures["aa_low"] is None

    chosen = replace(suite(), cells=(replace(GREEDY, again=2), *suite().cells[1:]))

    def again(observations):
        for block, group in ((0, 1), (3, 0)):
            runs = observations[f"greedy/block/{block}"]["runs"]
            names = ("exact-1", "json-1") if group == 0 else ("prose-1", "exact-2")
            made = run("baseline", 2, [generation(name, kept=None) | {"rounds": [], "prefill": 0} for name in names])
            runs.append(slower(made, 2.0) | {"group": group, "counters": runs[0]["counters"]})

    figures = in_blocks(again, of=chosen).figures
    assert math.isclose(0.5, figures["aa_low"])
    assert math.isclose(0.5, figures["aa_high"])


def test_a_group_that_is_alone_has_two_launches_and_no_interval():
    finding = in_blocks(cell="sampled")

    assert finding.status is Status.PASS
    assert (1, None, None, 2) == tuple(finding.figures[key] for key in ("pairs", "low", "high", "launches"))


def test_beside_a_kept_baseline_no_ratio_is_claimed():
    finding = judged("speed", record(), kept=True)

    assert finding.status is Status.NOT_APPLICABLE
    assert finding.figures["ratio"] is None
    assert finding.figures["candidate"]["e2e_s"] > 0
    assert "correctness only; no ratio claimed" in finding.summary
