"""A switch that makes a figure unquotable is found, and so is a baseline that drafts."""

import pytest
from observed import judged, served

from draftgate.canaries.contracts import Reason, Status

SWITCH = {"kind": "synthetic", "text": "spec_synth_len 3"}


def with_switch(arm, kind="synthetic"):
    observations = served()
    plain = {"reported": {}, "switches": []}
    observations["configuration"] = {"baseline": plain, "candidate": plain} | {
        arm: {"reported": {}, "switches": [SWITCH | {"kind": kind}]}
    }
    return observations


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
def test_nothing_switched_on_passes(cell):
    assert judged("configuration", served(), cell, kind="server").status is Status.PASS


@pytest.mark.parametrize("arm", ["baseline", "candidate"])
@pytest.mark.parametrize(("kind", "words"), [("synthetic", "by decree"), ("lossy", "does not keep the target's law")])
def test_a_switch_is_lossy_and_was_not_declared(arm, kind, words):
    finding = judged("configuration", with_switch(arm, kind), kind="server")

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.LOSSY_UNDECLARED)
    assert finding.summary.startswith(f"the {arm} ")
    assert words in finding.summary
    assert "spec_synth_len 3" in finding.summary


def test_a_baseline_that_drafts_is_no_plain_decoding():
    observations = served()
    observations["greedy/pairs"]["groups"][0]["runs"][0]["counters"]["each"][0]["drafted"] = 3
    finding = judged("configuration", observations, kind="server")

    assert (finding.status, finding.reason) == (Status.FAIL, Reason.BASELINE_UNSTABLE)
    assert "drafted 3 tokens" in finding.summary


def test_a_configuration_that_was_not_asked_for_is_no_evidence():
    observations = {key: value for key, value in served().items() if key != "configuration"}

    assert judged("configuration", observations, kind="server").status is Status.INCONCLUSIVE
