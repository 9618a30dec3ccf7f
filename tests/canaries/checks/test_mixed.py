"""Rows of mixed batches by their own parameters."""

import copy

import pytest
from loads import found, honest

from draftgate.canaries.contracts import Reason, Status


def judged(check, change, cell=0):
    observation = copy.deepcopy(honest("parameters"))
    change(observation)
    return found(check, {"parameters": observation}, cell=cell)


def test_the_honest_engine_passes_both():
    assert Status.PASS is judged("parameters", lambda o: None).status
    assert Status.PASS is judged("parameters_law", lambda o: None, cell=1).status


def longer(observation):
    one = observation["sampled"][0]
    one["generation"]["rounds"][0][0] = 99


def stops_elsewhere(observation):
    for answer in observation["variants"]["batch 1"]["generations"]:
        if answer["finish"] != "stop":
            answer["finish"] = "stop"
            return


@pytest.mark.parametrize(("change", "reason"), [(longer, Reason.METRICS), (stops_elsewhere, Reason.CORRECTNESS)])
def test_a_row_with_its_neighbours_parameters_fails(change, reason):
    finding = judged("parameters", change)

    assert (Status.FAIL, reason) == (finding.status, finding.reason)


def outside(observation):
    observation["sampled"][0]["replay"]["outside"][0] = 1


def peaked(observation):
    for one in observation["sampled"]:
        one["replay"]["below"] = [0.0] * len(one["replay"]["below"])
        one["replay"]["prob"] = [0.01] * len(one["replay"]["prob"])


@pytest.mark.parametrize("change", [outside, peaked])
def test_a_row_that_follows_another_law_fails(change):
    finding = judged("parameters_law", change, cell=1)

    assert (Status.FAIL, Reason.DISTRIBUTION) == (finding.status, finding.reason)


def test_too_few_tokens_are_no_pass():
    def few(observation):
        for one in observation["sampled"]:
            one["generation"]["tokens"] = one["generation"]["tokens"][:1]
            one["replay"] = {name: values[:1] for name, values in one["replay"].items()}

    finding = judged("parameters_law", few, cell=1)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "more are needed" in finding.summary
