"""Was speculation there at all? Counts, for each canary kind, the rounds that met each path of the verifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...engine.request import Generation
from ..contracts import Finding, Status
from ..observations.answers import by_arm
from ..observations.pairs import CANDIDATE
from .base import Case, Certain
from .counted import Window, total, windows
from .whole import whole


class Exercised(Certain):
    """Enough timed rounds proposed and accepted, in every kind; and rejection and full acceptance were met.

    In greedy cells these two count the synthetic drafters' rounds on the same kind too: the verifier is the same.
    In sampled cells, where laws are judged rather than kinds, they count over all kinds together.
    """

    name = "exercise"
    observes = ("pairs",)

    def judge(self, case: Case) -> Finding:
        """NOT_EXERCISED where a kind, or the cell, falls short of the suite's least number of rounds."""
        listed = list(windows(case.observed("pairs"), CANDIDATE))
        if listed:
            return self._counted(case, listed)
        kinds = {canary.id: canary.kind for canary in case.suite.canaries}
        timed = {canary.kind: Counter[str]() for canary in case.suite.canaries_for(case.cell)}
        for answer in by_arm(case.observed("pairs"), "candidate"):
            _count(timed[kinds[answer.canary]], answer.generation)
        whole = sum(timed.values(), Counter[str]())
        met = {kind: counts + Counter[str]() for kind, counts in timed.items()} if case.cell.greedy else {"all": whole}
        for generation in _synthetic(case) if case.cell.greedy else ():
            if kinds[generation.name] in met:
                _count(met[kinds[generation.name]], generation)
        short = [*_short(case, timed, ("proposed", "accepted")), *_short(case, met, ("rejected", "full"))]
        figures: dict[str, Any] = {kind: dict(counts) for kind, counts in timed.items()}
        seen = ", ".join(f"{whole[path]} rounds {path}" for path in ("proposed", "rejected", "full"))
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.NOT_EXERCISED if short or not timed else Status.PASS,
            summary="; ".join(short) or seen,
            figures=figures,
        )

    def _counted(self, case: Case, listed: list[Window]) -> Finding:
        """By counts instead of rounds: drafted and kept tokens of each kind, where answers are counted one by one.

        Refused tokens count over all kinds together, and so does a window in which several kinds were answered.
        """
        kinds = {canary.id: canary.kind for canary in case.suite.canaries}
        grouped: dict[str, list[Window]] = {}
        for window in listed:
            met = {kinds[name] for name in window.canaries}
            grouped.setdefault(met.pop() if len(met) == 1 else "all", []).append(window)
        least, short, figures = case.suite.exercise, [], {}
        for kind, own in grouped.items():
            drafted, accepted = total(own, "drafted"), total(own, "accepted")
            if drafted is None or accepted is None:
                return self._untold(case)
            counts = {"drafted": drafted, "accepted": accepted, "refused": drafted - accepted}
            figures[kind] = counts
            wanted = {"drafted": least.proposed, "accepted": least.accepted}
            short += [f"{kind}: {counts[c]} tokens {c}, {n} wanted" for c, n in wanted.items() if counts[c] < n]
        whole = {name: sum(counts[name] for counts in figures.values()) for name in ("drafted", "accepted", "refused")}
        if whole["refused"] < least.rejected:
            short.append(f"{whole['refused']} tokens refused, {least.rejected} wanted")
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.NOT_EXERCISED if short else Status.PASS,
            summary="; ".join(short) or ", ".join(f"{count} tokens {name}" for name, count in whole.items()),
            figures=figures,
        )

    def _untold(self, case: Case) -> Finding:
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.NOT_EXERCISED,
            summary="the candidate does not tell how many tokens it drafted and kept; switch its counters on",
        )


def _synthetic(case: Case) -> list[Generation]:
    """Answers of the synthetic drafters, where they are evidence."""
    variants = case.observed("synthetic")["variants"].values() if whole(case, "synthetic") else ()
    return [Generation.from_json(generation) for variant in variants for generation in variant["generations"]]


def _short(case: Case, counted: Mapping[str, Counter[str]], paths: tuple[str, ...]) -> list[str]:
    least = case.suite.exercise
    return [
        f"{kind}: {counts[path]} rounds {path}, {wanted} wanted"
        for kind, counts in counted.items()
        for path in paths
        if counts[path] < (wanted := getattr(least, path))
    ]


def _count(counts: Counter[str], generation: Generation) -> None:
    for number in generation.rounds:
        counts.update(_met(number.drafted, number.accepted))


def _met(drafted: int, accepted: int) -> list[str]:
    met = {
        "proposed": drafted > 0,
        "accepted": accepted > 0,
        "rejected": accepted < drafted,
        "full": 0 < drafted == accepted,
    }
    return [path for path, there in met.items() if there]
