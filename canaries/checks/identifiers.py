"""Are opaque identifiers copied, one by one? Rare faults show in volume, so each identifier is an answer of its own."""

from __future__ import annotations

from ...suites.suite import Canary
from ..contracts import Finding
from ..observations.answers import by_arm
from .base import Case
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
        for answer in by_arm(pairs, "candidate"):
            if answer.canary in asked:
                lost[answer.canary] |= solved[answer.canary] - copied(asked[answer.canary], answer.generation.text)
        right, wrong = sum(map(len, solved.values())), sum(map(len, lost.values()))
        figures = {
            "asked": sum(len(str(canary.expect).split(" ")) for canary in asked.values()),
            "baseline_right": right,
            "candidate_right": right - wrong,
        }
        return self._finding(case, figures, [name for name, places in lost.items() if places])


def copied(canary: Canary, text: str) -> set[int]:
    """Places at which the answer has the identifier that is asked for there."""
    wanted, given = str(canary.expect).split(" "), text.split(" ")
    shared = zip(wanted, given, strict=False)  # an answer that is too short lacks the rest
    return {place for place, (want, have) in enumerate(shared) if want == have}
