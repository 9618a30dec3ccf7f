"""Is the answer still right? Asked of the candidate wherever the baseline's own answer is.

Canaries that the baseline fails are struck out before the candidate is looked at; too few left is INCOMPLETE. An answer
that left the plain one at near ties only, within the measured noise, is no evidence either way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ...suites.suite import Canary
from ..contracts import Finding, Reason, Status
from ..observations.answers import Answered, by_arm
from .base import Case, Certain
from .forking import excused


def says_exactly(canary: Canary, text: str) -> bool:
    """Whether the answer is the expected text, no more and no less."""
    return text == canary.expect


def satisfies_schema(canary: Canary, text: str) -> bool:
    """Whether the answer is one JSON document that the schema accepts: no repeated keys, no NaN, nothing after."""
    from jsonschema import Draft202012Validator

    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        return False
    return bool(Draft202012Validator(dict(canary.schema or {})).is_valid(document))


class Validity(Certain):
    """One kind of canary, and what makes an answer to it right."""

    observes = ("pairs", "replays")

    def __init__(self, name: str, kind: str, right: Callable[[Canary, str], bool]) -> None:
        self.name = name
        self.kind = kind
        self._right = right

    def judge(self, case: Case) -> Finding:
        """FAIL for one canary that plain decoding solves and the candidate does not."""
        pairs = case.observed("pairs")
        asked = {c.id: c for c in case.suite.canaries_for(case.cell) if c.kind == self.kind}
        solved = {a.canary for a in by_arm(pairs, "baseline") if a.repeat == 0 and self._solves(asked, a)}
        wrong = [a for a in by_arm(pairs, "candidate") if a.canary in solved and not self._solves(asked, a)]
        innocent = excused(case) if wrong else frozenset()
        lost = sorted({a.canary for a in wrong if (a.canary, f"repeat {a.repeat}") not in innocent})
        near = {a.canary for a in wrong} - set(lost)
        figures = {
            "asked": len(asked),
            "baseline_right": len(solved),
            "near_ties": len(near),
            "candidate_right": len(solved) - len(lost) - len(near),
        }
        return self._finding(case, figures, lost)

    def _solves(self, asked: Mapping[str, Canary], answer: Answered) -> bool:
        return answer.canary in asked and self._right(asked[answer.canary], answer.generation.text)

    def _finding(self, case: Case, figures: dict[str, int], lost: list[str]) -> Finding:
        left = figures["baseline_right"] - figures["near_ties"]
        enough = left >= max(1, case.suite.strike_out.least_share * figures["asked"])
        struck = figures["asked"] - figures["baseline_right"]
        right = f"{figures['candidate_right']} of {left} right"
        near = f", {figures['near_ties']} forked at near ties" if figures["near_ties"] else ""
        summary = f"{right}, {struck} of {figures['asked']} struck out{near}"
        status, reason = Status.PASS, None
        if lost:
            status, reason = Status.FAIL, Reason.CORRECTNESS
        elif not enough:
            status, reason = Status.INCONCLUSIVE, Reason.INCOMPLETE
            summary += "; the baseline itself fails too many of these to judge by"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
            summary=f"{self.kind}: {summary}",
            reproduce=tuple(lost),
            figures=figures,
        )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise ValueError("a key is repeated")
    return document


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
