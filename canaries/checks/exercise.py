"""Was speculation there at all? Counts, for each canary kind, the rounds that met each path of the verifier."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..contracts import Finding, Status
from ..observations.answers import by_arm
from .base import Case, Certain


class Exercised(Certain):
    """Enough rounds proposed, accepted, rejected, and accepted everything, in every kind."""

    name = "exercise"
    observes = ("pairs",)

    def judge(self, case: Case) -> Finding:
        """NOT_EXERCISED where a kind falls short of the suite's least number of rounds."""
        pairs = case.observed("pairs")
        kinds = {canary.id: canary.kind for canary in case.suite.canaries_for(case.cell)}
        seen: dict[str, Counter[str]] = {kind: Counter() for kind in dict.fromkeys(kinds.values())}
        for answer in by_arm(pairs, "candidate"):
            for number in answer.generation.rounds:
                seen[kinds[answer.canary]].update(_met(number.drafted, number.accepted))
        least = case.suite.exercise
        short = [
            f"{kind}: {counts[path]} rounds {path}, {wanted} wanted"
            for kind, counts in seen.items()
            for path in ("proposed", "accepted", "rejected", "full")
            if counts[path] < (wanted := getattr(least, path))
        ]
        figures: dict[str, Any] = {kind: dict(counts) for kind, counts in seen.items()}
        total = sum((counts for counts in seen.values()), Counter[str]())
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.NOT_EXERCISED if short else Status.PASS,
            summary="; ".join(short)
            or ", ".join(f"{total[path]} rounds {path}" for path in ("proposed", "rejected", "full")),
            figures=figures,
        )


def _met(drafted: int, accepted: int) -> list[str]:
    met = {
        "proposed": drafted > 0,
        "accepted": accepted > 0,
        "rejected": accepted < drafted,
        "full": 0 < drafted == accepted,
    }
    return [path for path, there in met.items() if there]
