"""The cache after every round must be what a prefill of the committed tokens would have left.

Lengths must be equal. Keys and values may be off by a multiple of what plain decoding's own cache is off under the same
load.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..contracts import Finding, Reason, Status
from ..observations.serving.parity import OWN, PLAIN, WINDOWED
from .base import Case, Certain, not_observed

KEPT_NONE = "adversary"  # the drafter whose drafts are never kept


class StateParity(Certain):
    """Entries are as many as committed tokens, and of these tokens, after every round of every drafter."""

    name = "state_parity"
    observes = ("serving/state_parity",)

    def judge(self, case: Case) -> Finding:
        """FAIL for one cache of another length or content; PASS needs drafts under each drafter."""
        numbers = case.suite.serving
        if numbers is None:
            return not_observed(self.name, case)
        found: Mapping[str, Any] = case.observed("serving/state_parity")["drafters"]
        scale = max(found[PLAIN]["keys"], found[PLAIN]["values"])
        limit = numbers.parity_multiple * scale
        lengths = [label for label, one in found.items() if one["lengths"]]
        off = [label for label, one in found.items() if max(one["keys"], one["values"]) > limit]
        most = max(max(one["keys"], one["values"]) for label, one in found.items() if label != PLAIN)
        compared = sum(one["compared"] for label, one in found.items() if label != PLAIN)
        idle = list(_idle(found))
        status, reason = Status.PASS, None
        summary = f"{compared} caches are a prefill's but for {most:.2g}; plain decoding's are off by {scale:.2g}"
        if lengths:
            status, reason = Status.FAIL, Reason.CORRECTNESS
            which = ", ".join(f"{label} ({found[label]['first']} first)" for label in lengths)
            summary = f"caches hold more or fewer entries than were committed under {which}"
        elif off:
            status, reason = Status.FAIL, Reason.CORRECTNESS
            summary = f"caches are off by {most:.2g} under {', '.join(off)}; plain decoding's by {scale:.2g}"
        elif idle:
            status, reason, summary = Status.NOT_EXERCISED, Reason.NOT_EXERCISED, "; ".join(idle)
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
            summary=summary,
            reproduce=tuple(dict.fromkeys((*lengths, *off))),
            seen=f"one entry off by more than {limit:.1g} in {compared} caches",
            figures={"compared": compared, "largest": most, "plain": scale},
        )


def _idle(found: Mapping[str, Any]) -> list[str]:
    """What was to be met and was not."""
    short = [f"no cache was compared under {label}" for label, one in found.items() if not one["compared"]]
    short += [
        f"nothing was drafted under {label}" for label, one in found.items() if label != PLAIN and not one["drafted"]
    ]
    for label, one in found.items():
        if label not in (PLAIN, OWN, WINDOWED, KEPT_NONE) and not one["accepted"]:
            short.append(f"nothing was kept under {label}")
    return short
