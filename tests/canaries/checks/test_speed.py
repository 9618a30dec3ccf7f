"""Times in pairs give a ratio; times that cannot be give none."""

import math

import pytest
from observed import candidate, judged, record, spoiled

from draftgate.canaries.contracts import Reason, Status


def candidate_times(factor):
    def change(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for run in group["runs"]:
                for answer in run["generations"]:
                    scale = factor if run["arm"] == "candidate" else 1.0
                    answer["arrivals"] = [[seconds * scale, tokens] for seconds, tokens in answer["arrivals"]]

    return change


def test_the_ratio_is_baseline_over_candidate():
    finding = judged("speed", record())

    assert finding.status is Status.PASS
    assert math.isclose(0.20 / 0.11, finding.figures["ratio"])
    assert (2, 1.0, 1.0) == tuple(finding.figures[key] for key in ("pairs", "aa_low", "aa_high"))


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
