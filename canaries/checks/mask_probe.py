"""Does a token of a draft see one that it may not? Then its logits move when that one is changed."""

from __future__ import annotations

from ..contracts import Finding, Reason, Status
from .base import Case, Certain
from .forking import tolerance


class MaskProbe(Certain):
    """A changed token moves the logits behind it, and no other node's by more than noise."""

    name = "mask_probe"
    observes = ("serving/mask_probe", "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL where a change moved what must not see it; PASS needs every change to have moved what must."""
        found, limit = case.observed("serving/mask_probe"), tolerance(case)
        changes = found["changes"]
        leaks = [label for label, one in changes.items() if one["moved"] > limit]
        idle = [label for label, one in changes.items() if one["reached"] <= limit]
        most = max(one["moved"] for one in changes.values())
        status = Status.FAIL if leaks else Status.NOT_EXERCISED if idle else Status.PASS
        summary = f"{len(changes)} changes at {found['places']} contexts move nothing that may not see them"
        if leaks:
            summary = f"logits move by {most:.3g} where the changed token may not be seen ({', '.join(leaks)})"
        elif idle:
            summary = f"a change did not reach the tokens behind it ({', '.join(idle)})"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.CORRECTNESS, Status.NOT_EXERCISED: Reason.NOT_EXERCISED}.get(status),
            summary=summary,
            reproduce=tuple(leaks),
            seen=f"a node that sees another by more than {limit:.1g} logits",
            figures={"moved": most, "reached": min(one["reached"] for one in changes.values())},
        )
