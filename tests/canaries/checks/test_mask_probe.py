"""What may not be seen must not move, and what must be must."""

import copy

import pytest
from loads import found, honest

from draftgate.canaries.contracts import Reason, Status


def judged(**changes):
    observation = copy.deepcopy(honest("mask_probe"))
    observation["changes"]["sibling"] |= changes
    return found("mask_probe", {"mask_probe": observation})


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({}, Status.PASS, None),
        ({"moved": 1.0}, Status.FAIL, Reason.CORRECTNESS),
        ({"reached": 0.0}, Status.NOT_EXERCISED, Reason.NOT_EXERCISED),
    ],
)
def test_a_leak_fails_and_a_change_that_reached_nothing_is_no_evidence(changes, status, reason):
    finding = judged(**changes)

    assert (status, reason) == (finding.status, finding.reason)
