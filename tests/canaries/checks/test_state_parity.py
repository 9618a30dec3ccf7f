"""A cache of another length, or of other contents, fails."""

import copy

import pytest
from loads import found, honest

from draftgate.canaries.contracts import Reason, Status


def judged(label, **changes):
    observation = copy.deepcopy(honest("state_parity"))
    observation["drafters"][label] |= changes
    return found("state_parity", {"state_parity": observation})


@pytest.mark.parametrize(
    ("label", "changes", "status", "reason"),
    [
        ("branches", {}, Status.PASS, None),
        ("adversary", {"lengths": 1, "first": "a"}, Status.FAIL, Reason.CORRECTNESS),
        ("branches", {"keys": 0.1}, Status.FAIL, Reason.CORRECTNESS),
        ("branches", {"values": 0.1}, Status.FAIL, Reason.CORRECTNESS),
        ("odd-even", {"compared": 0}, Status.NOT_EXERCISED, Reason.NOT_EXERCISED),
        ("branches", {"accepted": 0}, Status.NOT_EXERCISED, Reason.NOT_EXERCISED),
        ("branches", {"drafted": 0}, Status.NOT_EXERCISED, Reason.NOT_EXERCISED),
    ],
)
def test_what_is_off_fails_and_what_was_not_met_is_no_evidence(label, changes, status, reason):
    finding = judged(label, **changes)

    assert (status, reason) == (finding.status, finding.reason)
