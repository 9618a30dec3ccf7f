"""Does any sampled token lie outside what top-k, top-p or min-p leave? One is proof."""

from __future__ import annotations

from ...stats import support
from ...stats.design import rate_detectable
from ..contracts import Finding, Reason, Status
from .base import Case, Certain, not_observed
from .forking import tolerance


class Support(Certain):
    """Every emitted token has a place in the plain arm's filtered law."""

    name = "support"
    observes = ("replays",)

    def judge(self, case: Case) -> Finding:
        """FAIL for one token outside; PASS needs enough tokens to have seen the suite's fault rate."""
        replays = case.observed("replays")
        if not replays or not replays["candidate"]:
            return not_observed(self.name, case)
        # Where no law is known, or fewer tokens are told than the filters keep, nothing was looked at.
        told = [pair for r in replays["candidate"] for pair in zip(r["outside"], r["prob"], strict=True)]
        marks = [mark for mark, prob in told if mark or (mark is not None and prob is not None)]
        outside, tokens, miss = sum(marks), len(marks), case.design.miss
        evidence = support.outside_support(outside, tokens, hypothesis="no token outside the filtered support")
        detectable = rate_detectable(tokens, miss=miss)
        enough = detectable <= case.design.token_fault_rate
        status = Status.FAIL if outside else Status.PASS if enough else Status.INCONCLUSIVE
        bad = [
            canary
            for canary, replay in zip(replays["replayed"], replays["candidate"], strict=True)
            if any(replay["outside"])
        ]
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.DISTRIBUTION, Status.INCONCLUSIVE: Reason.INCOMPLETE}.get(status),
            summary=f"{outside} of {tokens} tokens outside the support",
            evidence=(evidence.to_json(),),
            reproduce=tuple(dict.fromkeys(bad)),
            seen=f"1 token in {round(1 / detectable)} that is forbidden by more than {tolerance(case):.1g} logits",
            figures={"outside": outside, "tokens": tokens},
        )
