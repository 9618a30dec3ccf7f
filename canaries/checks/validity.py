"""Is the answer still right? Asked of the candidate wherever the baseline's own answer is.

Canaries that the baseline fails are struck out before the candidate is looked at; too few left is INCOMPLETE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...suites.suite import Canary
from ..contracts import Finding, Reason, Status
from ..observations.answers import Answered, by_arm
from .base import Case, Certain
from .flaws import Flaw, Flawed, NotStrict, document, satisfies


def exactly(canary: Canary, text: str) -> Flawed | None:
    """A flaw unless the answer is the expected text, no more and no less."""
    return None if text == canary.expect else Flawed(Flaw.OTHER_TEXT)


def by_schema(canary: Canary, text: str) -> Flawed | None:
    """A flaw unless the answer is one JSON document that the schema accepts."""
    try:
        right = satisfies(document(text), canary.schema or {})
    except NotStrict as error:
        return Flawed(error.flaw)
    return None if right else Flawed(Flaw.NOT_BY_SCHEMA)


class Validity(Certain):
    """One kind of canary, and what is wrong with an answer to it."""

    observes = ("pairs",)

    def __init__(self, name: str, kind: str, flaw: Callable[[Canary, str], Flawed | None]) -> None:
        self.name = name
        self.kind = kind
        self._flaw = flaw

    def judge(self, case: Case) -> Finding:
        """FAIL for one canary that plain decoding solves and the candidate does not."""
        pairs = case.observed("pairs")
        asked = {c.id: c for c in case.suite.canaries_for(case.cell) if c.kind == self.kind}
        baseline = {a.canary: self._wrong(asked, a) for a in by_arm(pairs, "baseline") if a.repeat == 0}
        solved = {name for name in asked if baseline[name] is None}
        answers = [a for a in by_arm(pairs, "candidate") if a.canary in solved]
        lost = {a.canary: flawed for a in answers if (flawed := self._wrong(asked, a))}
        figures = {
            "asked": len(asked),
            "baseline_right": len(solved),
            "candidate_right": len(solved) - len(lost),
            "struck_out": _counted(flawed for name in asked if (flawed := baseline[name])),
            "flaws": _counted(lost.values()),
        }
        words = "".join(f"; {name}: {lost[name]}" for name in sorted(lost)[:1])
        return self._finding(case, figures, sorted(lost), words)

    def _wrong(self, asked: Mapping[str, Canary], answer: Answered) -> Flawed | None:
        """What is wrong with an answer: that it was cut, where it was."""
        flawed = self._flaw(asked[answer.canary], answer.generation.text) if answer.canary in asked else None
        return Flawed(Flaw.CUT) if flawed and answer.generation.finish == "length" else flawed

    def _finding(self, case: Case, figures: Mapping[str, Any], lost: Sequence[str], words: str = "") -> Finding:
        enough = figures["baseline_right"] >= max(1, case.suite.strike_out.least_share * figures["asked"])
        struck = figures["asked"] - figures["baseline_right"]
        right = f"{figures['candidate_right']} of {figures['baseline_right']} right"
        summary = f"{right}, {struck} of {figures['asked']} struck out{words}"
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


def _counted(flaws: Iterable[Flawed]) -> dict[str, int]:
    """How many of each flaw."""
    return dict(Counter(str(flawed.flaw) for flawed in flaws))
