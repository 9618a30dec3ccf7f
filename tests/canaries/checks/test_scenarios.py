"""A scenario fails for what it changes, and says nothing where it did not come about."""

import copy

import pytest
from loads import found, honest

from draftgate.canaries.contracts import Reason, Status


def judged(name, change):
    observation = copy.deepcopy(honest(name))
    change(observation["variants"])
    return found(name, {name: observation})


def test_the_honest_engine_passes():
    finding = found("preemption", {"preemption": honest("preemption")})

    assert (Status.PASS, None) == (finding.status, finding.reason)
    assert "tokens equal" in finding.summary


def fewer_kept(variants):
    for answer in variants["tight"]["generations"]:
        answer["rounds"] = [[drafted, 0, emitted, cut] for drafted, _, emitted, cut in answer["rounds"]]


def lost(variants):
    variants["call 2"]["met"]["hits"] = variants["call 2"]["met"]["plain_hits"] - 1


SPOILED = {
    "a block that nobody holds": ("preemption", lambda v: v["tight"]["met"].update(left=1), Reason.CORRECTNESS),
    "a prefix of another's": ("traffic", lambda v: v["another tenant"]["met"].update(hits=16), Reason.CORRECTNESS),
    "hits that plain decoding has": ("traffic", lost, Reason.METRICS),
    "counts that do not add up": ("preemption", fewer_kept, Reason.METRICS),
    "another end": ("order", lambda v: v["reversed"]["generations"][0].update(text="Twice."), Reason.CORRECTNESS),
}


@pytest.mark.parametrize("what", SPOILED)
def test_what_is_wrong_fails_for_its_reason(what):
    name, change, reason = SPOILED[what]

    finding = judged(name, change)

    assert (Status.FAIL, reason) == (finding.status, finding.reason), finding.summary


def test_rounds_that_depend_on_place_are_wrong_figures():
    finding = judged(
        "order",
        lambda v: [
            answer.update(rounds=[[0, 0, 1, 0]] * (len(answer["tokens"]) - 1))
            for answer in v["reversed"]["generations"]
        ],
    )

    assert (Status.FAIL, Reason.METRICS) == (finding.status, finding.reason)
    assert "are others under reversed than in order" in finding.summary


UNMET = {
    "no preemption": ("preemption", lambda v: v["tight"]["met"].update(preempted=0), "preemptions under tight: 0"),
    "no hit": ("chained", lambda v: v["batch 1"]["met"].update(hits=0), "found in the prefix tree under batch 1: 0"),
    "no seam": ("seam", lambda v: v["batch 1"]["met"].update(crossings=1), "speculation was switched under batch 1: 1"),
    "no company": ("neighbours", lambda v: v["batch 4"]["met"].update(rows=1), "ran together under batch 4: 1"),
    "no cancellation": ("traffic", lambda v: v["call 2"]["met"].update(gone_before=0), "cancellations before under"),
}


@pytest.mark.parametrize("what", UNMET)
def test_a_scenario_that_did_not_come_about_is_not_exercised(what):
    name, change, told = UNMET[what]

    finding = judged(name, change)

    assert (Status.NOT_EXERCISED, Reason.NOT_EXERCISED) == (finding.status, finding.reason)
    assert told in finding.summary


def test_a_record_without_it_is_inconclusive():
    assert Status.INCONCLUSIVE is found("order", {}).status
