"""Are opaque identifiers copied, one by one? Rare faults show in volume, so each identifier is an answer of its own."""

from __future__ import annotations

from ...suites.suite import Canary
from ..contracts import Finding
from ..observations.answers import by_arm
from .base import Case
from .forking import excused
from .validity import Validity, exactly


class Identifiers(Validity):
    """Every identifier that plain decoding copies rightly, the candidate does. All figures count identifiers."""

    def __init__(self) -> None:
        super().__init__("identifiers", "identifiers", exactly)

    def judge(self, case: Case) -> Finding:
        """FAIL for one identifier that plain decoding copies and the candidate does not."""
        pairs = case.observed("pairs")
        asked = {c.id: c for c in case.suite.canaries_for(case.cell) if c.kind == self.kind}
        baseline = {a.canary: a.generation.text for a in by_arm(pairs, "baseline") if a.repeat == 0}
        solved = {name: copied(canary, baseline[name]) for name, canary in asked.items()}
        lost: dict[str, set[int]] = {name: set() for name in asked}
        near: dict[str, set[int]] = {name: set() for name in asked}
        innocent = excused(case)
        for a in by_arm(pairs, "candidate"):
            if a.canary in asked:
                told = near if (a.canary, f"repeat {a.repeat}") in innocent else lost
                told[a.canary] |= solved[a.canary] - copied(asked[a.canary], a.generation.text)
        right, wrong = sum(map(len, solved.values())), sum(map(len, lost.values()))
        tied = sum(len(places - lost[name]) for name, places in near.items())
        figures = {
            "asked": sum(len(str(canary.expect).split(" ")) for canary in asked.values()),
            "baseline_right": right,
            "near_ties": tied,
            "candidate_right": right - wrong - tied,
        }
        return self._finding(case, figures, [name for name, places in lost.items() if places])


def copied(canary: Canary, text: str) -> set[int]:
    """Places at which the answer has the identifier that is asked for there. Any space parts them.

    What follows the last belongs to it: an answer that goes on has not copied it.
    """
    wanted = str(canary.expect).split(" ")
    given = text.strip().split(maxsplit=len(wanted) - 1)
    shared = zip(wanted, given, strict=False)  # an answer that is too short lacks the rest
    return {place for place, (want, have) in enumerate(shared) if want == have}
