"""Is nothing switched on that makes a figure unquotable? Synthetic acceptance, a lossy rule, a baseline that drafts."""

from __future__ import annotations

from ..contracts import Finding, Reason, Status
from ..observations.pairs import BASELINE, CANDIDATE
from .base import Case, Certain
from .counted import windows

MEANS = {
    "synthetic": "accepts drafts by decree, so its text is wrong by design",
    "lossy": "runs a rule that does not keep the target's law",
}


class Configuration(Certain):
    """Command line, environment and what the servers report of themselves; and what the baseline counted."""

    name = "configuration"
    observes = ("configuration", "pairs")

    def judge(self, case: Case) -> Finding:
        """FAIL for one such switch, or one draft of the baseline's."""
        found = case.observed("configuration")
        on = [(arm, switch) for arm in (CANDIDATE, BASELINE) for switch in found[arm]["switches"]]
        drafted = sum(window.drafted or 0 for window in windows(case.observed("pairs"), BASELINE))
        reason, summary = (
            None,
            "no synthetic and no lossy switch is on, as far as the servers tell; the baseline drafts nothing",
        )
        if on:
            arm, switch = on[0]
            reason = Reason.LOSSY_UNDECLARED
            summary = f"the {arm} {MEANS.get(switch['kind'], switch['kind'])}: {switch['text']}"
        elif drafted:
            reason, summary = (
                Reason.BASELINE_UNSTABLE,
                f"the baseline drafted {drafted} tokens; switch speculation off in it",
            )
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if reason else Status.PASS,
            reason=reason,
            summary=summary,
        )
