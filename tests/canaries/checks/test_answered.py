"""An answer that cannot be read is a finding about the arm that gave it, and evidence of nothing else."""

import pytest
from observed import judged, served

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.errors import BrokenAnswer
from draftgate.canaries.run import told


def test_answers_that_came_to_their_end_pass():
    assert judged("answered", served(), kind="server").status is Status.PASS


@pytest.mark.parametrize(("arm", "reason"), [("candidate", Reason.CORRECTNESS), ("baseline", Reason.BASELINE_UNSTABLE)])
@pytest.mark.parametrize("key", ["greedy/pairs", "greedy/replays", "configuration"])
def test_a_broken_answer_fails_on_the_account_of_its_arm(key, arm, reason):
    finding = judged("answered", served() | {key: {"broken": {"arm": arm, "told": "half an event"}}}, kind="server")

    assert (finding.status, finding.reason) == (Status.FAIL, reason)
    assert finding.summary == f"{arm}: half an event"


def test_what_else_broke_is_told_by_arm_and_number():
    arms = {"pairs": "candidate", "replays": "baseline", "samples": "candidate"}
    broken = {f"greedy/{key}": {"broken": {"arm": arm, "told": f"half of {key}"}} for key, arm in arms.items()}
    finding = judged("answered", served() | broken, kind="server")

    assert finding.reason is Reason.CORRECTNESS
    assert finding.summary == "candidate: half of pairs; baseline: half of replays; and 1 more"


def test_what_rests_on_a_broken_answer_is_no_evidence():
    broken = served() | {"greedy/pairs": {"broken": {"arm": "candidate", "told": "half an event"}}}

    assert judged("exact_tokens", broken, kind="server").status is Status.INCONCLUSIVE
    assert "see the check `answered`" in judged("speed", broken, kind="server").summary


def test_a_cell_that_was_not_observed_is_not_answered():
    assert judged("answered", {}, kind="server").status is Status.INCONCLUSIVE


def test_a_broken_answer_is_recorded_and_any_other_failure_is_raised():
    def broken():
        raise BrokenAnswer("no finish reason", "candidate")

    assert told(broken) == {"broken": {"arm": "candidate", "told": "no finish reason"}}
    with pytest.raises(ZeroDivisionError):
        told(lambda: 1 / 0)
