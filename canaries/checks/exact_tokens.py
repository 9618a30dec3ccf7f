"""Greedy token parity: the candidate's ids are the baseline's, every one, near ties aside.

Forks that are explained one by one must also be no more than the census of margins predicts, and must not sit where
speculation rejected more often than chance puts them there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from ...engine.request import Generation
from ...stats import clustering, poisson_binomial
from ...stats.decision import decide
from ...stats.design import rate_detectable, rate_draws
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations.answers import Answered, Fork, by_arm, forks
from .base import Case, worst
from .forking import explained, noise_of, tolerance

QUIET = 1e-12  # logits: noise below this is none, as in float64
SHOWN = 24  # characters of both answers shown from where they part


class ExactTokens:
    """At T = 0 both arms emit the same ids on the timed requests."""

    name = "exact_tokens"
    observes = ("pairs", "replays")

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """Fork count against the census, and fork places against rejections."""
        del suite, cell
        return ("census", "clustering")

    def judge(self, case: Case) -> Finding:
        """FAIL for one unexplained fork; PASS needs enough tokens to have seen the suite's fault rate."""
        pairs, replays = case.observed("pairs"), case.observed("replays")
        found = forks(pairs)
        wanted = {a.canary: a.generation.tokens for a in by_arm(pairs, "baseline") if a.repeat == 0}
        limit = tolerance(case)
        bad = [
            fork
            for fork, replay in zip(found, replays["candidate"], strict=True)
            if not explained(fork, wanted[fork.canary], replay, limit)
        ]
        compared = _compared(by_arm(pairs, "candidate"), found)
        if bad:
            return self._failed(case, bad, len(found), compared)
        if garbled := _garbled(pairs):
            return self._misread(case, garbled)
        return self._counted(case, found, compared)

    def _failed(self, case: Case, bad: list[Fork], all_forks: int, compared: int) -> Finding:
        first = bad[0]
        where = f"first at token {first.at} of {first.canary}: {_apart(case, first)}"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL,
            reason=Reason.CORRECTNESS,
            summary=f"{len(bad)} answers differ from plain decoding beyond the measured noise; {where}",
            reproduce=tuple(dict.fromkeys(fork.canary for fork in bad)),
            figures={"unexplained": len(bad), "forks": all_forks, "tokens_compared": compared},
        )

    def _misread(self, case: Case, garbled: list[str]) -> Finding:
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL,
            reason=Reason.CORRECTNESS,
            summary=f"equal tokens, other text or another end in {len(garbled)} canaries, first {garbled[0]}",
            reproduce=tuple(garbled),
        )

    def _counted(self, case: Case, found: list[Fork], compared: int) -> Finding:
        pairs, replays = case.observed("pairs"), case.observed("replays")
        rates = _fork_rates(replays["census"], case.cell.repeats, noise_of(case))
        miss, need = case.design.miss, case.design.token_fault_rate
        share = case.share(self.name, "census")
        forked = {(fork.canary, fork.at) for fork in found}
        many = poisson_binomial.excess(len(forked), rates, hypothesis="no more forks than near ties predict")
        many_design = poisson_binomial.design(rates, false_alarm=share, miss=miss)
        seen, marked = _places(by_arm(pairs, "candidate"), found)
        placed = clustering.at_marked_places(
            len(forked & marked), len(forked), marked=len(marked), positions=len(seen), hypothesis="forks fall anywhere"
        )
        placed_design = clustering.design(
            marked=len(marked), positions=len(seen), false_alarm=case.share(self.name, "clustering"), miss=miss
        )
        detectable = rate_detectable(compared, miss=miss)
        # The two tests may only speak against the candidate: what must be seen is set by the tokens compared.
        decisions = [decide(many, many_design, effect=1.0), decide(placed, placed_design, effect=float("inf"))]
        status = worst(decisions)
        reason = Reason.CORRECTNESS if status is Status.FAIL else None
        if status is Status.PASS and detectable > need:
            status, reason = Status.INCONCLUSIVE, Reason.INCOMPLETE
        short = max(0, rate_draws(need, miss=miss) - compared)
        summary = f"{compared} tokens equal, {len(found)} near ties explained"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
            summary=summary if not short else f"{summary}; {short} more tokens are needed",
            evidence=(many.to_json(), placed.to_json()),
            design=(many_design.to_json(), placed_design.to_json()),
            reproduce=tuple(fork.canary for fork in found),
            seen=f"a fault that changes 1 greedy token in {round(1 / detectable)}" if detectable else "",
            figures={"unexplained": 0, "forks": len(found), "tokens_compared": compared},
        )


def _garbled(pairs: Mapping[str, Any]) -> list[str]:
    """Canaries whose ids are the baseline's, and whose text or finish reason is not."""
    first = {a.canary: a.generation for a in by_arm(pairs, "baseline") if a.repeat == 0}
    same = [a for a in by_arm(pairs, "candidate") if a.generation.tokens == first[a.canary].tokens]
    return sorted({a.canary for a in same if _told(a.generation) != _told(first[a.canary])})


def _told(generation: Generation) -> tuple[str, str]:
    return generation.text, generation.finish


def _apart(case: Case, first: Fork) -> str:
    """How both texts go on from where they part."""
    pairs = case.observed("pairs")
    plain = next(a.generation.text for a in by_arm(pairs, "baseline") if a.canary == first.canary)
    other = next(
        a.generation.text
        for a in by_arm(pairs, "candidate")
        if a.canary == first.canary and f"repeat {a.repeat}" == first.label
    )
    at = next((place for place, (a, b) in enumerate(zip_longest(plain, other)) if a != b), len(plain))
    return f"plain goes on {plain[at : at + SHOWN]!r}, the candidate {other[at : at + SHOWN]!r}"


def _compared(answers: Sequence[Answered], found: Sequence[Fork]) -> int:
    """Tokens up to and including the first difference of each answer, repeats of a canary counted once.

    A greedy fault that depends on the tokens alone shows in every repeat or in none: a repeat is no new evidence.
    """
    cut = {(fork.canary, fork.label): fork.at + 1 for fork in found}
    reached: dict[str, int] = {}
    for a in answers:
        length = min(len(a.generation.tokens), cut.get((a.canary, f"repeat {a.repeat}"), len(a.generation.tokens)))
        reached[a.canary] = min(length, reached.get(a.canary, length))
    return sum(reached.values())


def _fork_rates(census: Sequence[dict[str, Any]], repeats: int, noise: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The chance of a fork at each baseline token: its gap against noise whose largest value is taken for its scale.

    A token that several repeats meet is one place: what shook one repeat may shake them all, so their chances add.
    """
    gaps = np.array([gap for replay in census for gap in replay["gap"]], np.float64)
    scale = max(noise, QUIET)
    return np.minimum(1.0, repeats * np.asarray(norm.sf(gaps / scale), np.float64))


class _Places(NamedTuple):
    """Places (canary, token) of the answers up to their first difference, and those of them that follow a rejection."""

    seen: set[tuple[str, int]]
    marked: set[tuple[str, int]]


def _places(answers: Sequence[Answered], found: Sequence[Fork]) -> _Places:
    """A rejection marks the replacement itself and the token after it. Places that repeats share are counted once."""
    places = _Places(set(), set())
    cut = {(fork.canary, fork.label): fork.at for fork in found}
    for answer in answers:
        end = cut.get((answer.canary, f"repeat {answer.repeat}"), len(answer.generation.tokens) - 1)
        places.seen.update((answer.canary, place) for place in range(end + 1))
        places.marked.update((answer.canary, place) for place in _after_rejections(answer.generation) if place <= end)
    return places


def _after_rejections(generation: Generation) -> Iterator[int]:
    at = generation.prefill
    for number in generation.rounds:
        at += number.emitted
        if number.accepted < number.drafted:
            yield from (at - 1, at)
