"""Does any answer hold a word that stands in another's prompt only? One such word is a leak between requests.

The words are opaque identifiers: nobody can guess one. What plain decoding says by itself, alone, is excused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...suites.served import complaint as unserved
from ..contracts import Finding, Reason, Status
from .base import Case, Certain, not_observed

IN_COMPANY = tuple(f"serving/{name}" for name in ("neighbours", "parameters", "traffic", "preemption", "order", "seam"))


class PrivateWords(Certain):
    """No answer of any scenario, greedy or sampled, holds a word that only another request was given."""

    name = "private_words"
    observes = IN_COMPANY

    def judge(self, case: Case) -> Finding:
        """FAIL for one foreign word; PASS needs answers to canaries that have words of their own."""
        numbers = case.suite.serving
        if numbers is None or unserved(numbers, case.suite):
            return not_observed(self.name, case)
        words = {c.id: frozenset(str(c.expect).split()) for c in case.suite.of_kind("identifiers")}
        everyone = frozenset().union(*words.values())
        excused = _plain(self._observed(case))
        looked, leaks = 0, []
        for scenario in self._observed(case):
            for name, text in _answers(scenario):
                foreign = everyone - words.get(name, frozenset()) - excused[name]
                looked += name in words
                leaks += [f"{name}: {word}" for word in sorted(foreign & frozenset(text.split()))]
        status = Status.FAIL if leaks else Status.PASS if looked else Status.NOT_EXERCISED
        told = f"{len(leaks)} foreign words, first {leaks[0]}" if leaks else "no word of another's prompt"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.CORRECTNESS, Status.NOT_EXERCISED: Reason.NOT_EXERCISED}.get(status),
            summary=f"{told} in {looked} answers that have words of their own",
            reproduce=tuple(dict.fromkeys(leak.partition(":")[0] for leak in leaks)),
            figures={"answers": looked, "foreign": len(leaks)},
        )

    def _observed(self, case: Case) -> list[Mapping[str, Any]]:
        return [case.observed(name) for name in self.observes]


def _answers(scenario: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and text of every answer of the candidate."""
    for variant in scenario["variants"].values():
        yield from ((answer["name"], answer["text"]) for answer in variant["generations"])
    for one in scenario.get("sampled", ()):
        yield one["generation"]["name"], one["generation"]["text"]


def _plain(scenarios: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Words that plain decoding says alone, by canary."""
    said: dict[str, set[str]] = defaultdict(set)
    for scenario in scenarios:
        for answer in scenario["plain"]:
            said[answer["name"]].update(answer["text"].split())
    return said
