"""Degenerate repetition: the candidate falls into loops no more often than plain decoding.

An answer loops when it ends in one phrase said again and again (Holtzman et al. 2020, 1904.09751: a phrase of two
tokens or more, at least three times in a row at the end). Some prompts invite that, so only the arms' difference
counts: pairs of answers to the same canary in which only the candidate loops, against those in which only the baseline
does. Pooled over all cells of the run, because a loop is rare in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...stats import sign
from ...stats.decision import decide
from ...suites.suite import Cell, Loops, Suite
from ..contracts import Finding, Reason, Status
from ..observations.answers import Answered, answers
from .base import STATUS, Case, entry, not_observed
from .whole import hole

TEST = "rate"


class Degenerate:
    """The rate of degenerate repetition is no higher than the baseline's, over all timed answers of the run."""

    name = "loops"
    observes = ("pairs",)

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """One test for the whole run, on the account of the first cell that requires it."""
        return (TEST,) if cell.name == _payer(suite).name else ()

    def judge(self, case: Case) -> Finding:
        """FAIL where the candidate alone loops too often; PASS needs enough pairs to have seen the suite's effect."""
        numbers = case.suite.loops
        if numbers is None:
            return not_observed(self.name, case)
        holes = (hole(replace(case, cell=cell), "pairs") for cell in case.suite.cells)
        if why := next(filter(None, holes), None):
            return not_observed(self.name, case, why)
        found = _pairs(case, numbers)
        both = sum(pair.baseline for pair in found)
        alone = [pair for pair in found if pair.candidate and not pair.baseline]
        other = sum(pair.baseline and not pair.candidate for pair in found)
        evidence = sign.excess(
            len(alone), other, len(found), hypothesis="answers loop no more often than under plain decoding"
        )
        share = case.ledger.share(entry(_payer(case.suite), self.name, TEST))
        planned = sign.design(len(found), other, false_alarm=share, miss=case.suite.design.miss)
        status = STATUS[decide(evidence, planned, effect=numbers.effect)]
        summary = f"{sum(pair.candidate for pair in found)} of {len(found)} answers loop, {both} of the baseline's"
        if status is Status.INCONCLUSIVE:
            summary += f"; too few pairs to see loops in {numbers.effect:.0%} of answers"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.CORRECTNESS, Status.INCONCLUSIVE: Reason.INCOMPLETE}.get(status),
            summary=summary,
            evidence=(evidence.to_json(),),
            design=(planned.to_json(),),
            reproduce=tuple(dict.fromkeys(pair.canary for pair in alone)) if status is Status.FAIL else (),
            seen=f"a fault that sends {planned.detectable:.0%} of answers into loops" if found else "",
            figures={"pairs": len(found), "candidate": sum(p.candidate for p in found), "baseline": both},
        )


class Pair(NamedTuple):
    """Whether the answers of both arms to one canary loop."""

    canary: str
    baseline: bool
    candidate: bool


def loops(tokens: Sequence[int], numbers: Loops) -> bool:
    """Whether the tokens end in `times` copies of one phrase of `shortest` to `longest` tokens.

    shortest 2, times 3: [9 1 2 1 2 1 2] loops; so does [5 5 5 5 5 5], in which the phrase is [5 5].
    """
    for length in range(numbers.shortest, min(numbers.longest, len(tokens) // numbers.times) + 1):
        span = tokens[len(tokens) - length * numbers.times :]
        if all(a == b for a, b in zip(span, span[length:], strict=False)):  # shifted by one phrase: nothing moves
            return True
    return False


def _pairs(case: Case, numbers: Loops) -> list[Pair]:
    """One pair a canary for all greedy answers, for repeats are no new evidence; one an answer where they are drawn."""
    looped: dict[tuple[str, str], dict[str, bool]] = {}
    eos = set(case.header["eos"])
    for key, a in _keyed(case):
        tokens = a.generation.tokens[:-1] if set(a.generation.tokens[-1:]) & eos else a.generation.tokens
        seen = looped.setdefault((a.canary, key), {})
        seen[a.arm] = seen.get(a.arm, False) or loops(tokens, numbers)
    return [Pair(canary, arms["baseline"], arms["candidate"]) for (canary, _), arms in looped.items()]


def _keyed(case: Case) -> Iterator[tuple[str, Answered]]:
    for cell in case.suite.cells:
        for a in answers(case.observations[f"{cell.name}/pairs"]):
            if a.repeat < cell.repeats:  # the baseline's turns against itself have no partner
                yield "greedy" if cell.greedy else f"{cell.name}/{a.repeat}", a


def _payer(suite: Suite) -> Cell:
    """The first cell in which the check is required; the first of all where it is required nowhere."""
    asking = (c for c in suite.cells if any("loops" in lists.checks_for(c) for lists in suite.required.values()))
    return next(asking, suite.cells[0])
