"""Greedy token parity: the candidate's ids are the baseline's, every one, near ties aside.

A token counts as evidence only where the plain arm decides it by more than the noise could explain away. Forks that are
explained one by one must also be no more than the census of margins predicts, and must not sit behind rejections more
often than chance puts them there.
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
from ...stats.design import Design, rate_detectable, rate_draws
from ...stats.evidence import Evidence
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations.answers import Fork, by_arm, forks, shown
from .base import Case, worst
from .forking import noise_of, tolerance, undecided, unexplained

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
        """FAIL for one unexplained fork; PASS needs enough decided tokens to have seen the suite's fault rate."""
        if bad := unexplained(case):
            return self._failed(case, bad)
        if garbled := _garbled(case.observed("pairs")):
            return self._misread(case, garbled)
        return self._counted(case, forks(case.observed("pairs")))

    def _failed(self, case: Case, bad: list[Fork]) -> Finding:
        first, found = bad[0], forks(case.observed("pairs"))
        where = f"first at token {first.at} of {first.canary}: {_apart(case, first)}"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL,
            reason=Reason.CORRECTNESS,
            summary=f"{len(bad)} answers differ from plain decoding beyond the measured noise; {where}",
            reproduce=tuple(dict.fromkeys(fork.canary for fork in bad)),
            figures={"unexplained": len(bad), "forks": len(found)},
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

    def _counted(self, case: Case, found: list[Fork]) -> Finding:
        replays, limit = case.observed("replays"), tolerance(case)
        miss, need = case.design.miss, case.design.token_fault_rate
        made = [self._many(case, found), *([self._placed(case, found)] if found else [])]
        decided = _decided(case, found, limit)
        detectable = rate_detectable(decided, miss=miss)
        # The tests may only speak against the candidate: what must be seen is set by the tokens decided.
        status = worst([decide(one.evidence, one.design, effect=one.effect) for one in made])
        unsure = undecided(case)
        if status is Status.PASS and (unsure or detectable > need):
            status = Status.INCONCLUSIVE
        short = max(0, rate_draws(need, miss=miss) - decided)
        total = sum(len(replay["gap"]) for replay in replays["census"])
        forked = _untold_forks(unsure) if unsure else _told_forks(found, replays, noise_of(case))
        missing = f"; {short} more are needed that are decided by over {limit:.2g} logits" if short else ""
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.CORRECTNESS, Status.INCONCLUSIVE: Reason.INCOMPLETE}.get(status),
            summary=f"{total} tokens equal{forked}{missing}",
            evidence=tuple(one.evidence.to_json() for one in made),
            design=tuple(one.design.to_json() for one in made),
            reproduce=tuple(fork.canary for fork in found),
            seen=_visible(decided, total, detectable, limit) + forked,
            figures={"unexplained": 0, "forks": len(_places(found)), "tokens": total, "decided": decided},
        )

    def _many(self, case: Case, found: list[Fork]) -> _Tested:
        """Whether there are more forks than the census of near ties predicts."""
        rates = _fork_rates(case.observed("replays")["census"], case.cell.repeats, noise_of(case))
        share, miss = case.share(self.name, "census"), case.suite.design.miss
        hypothesis = "no more forks than near ties predict"
        many = poisson_binomial.excess(len(_places(found)), rates, hypothesis=hypothesis)
        return _Tested(many, poisson_binomial.design(rates, false_alarm=share, miss=miss), 1.0)

    def _placed(self, case: Case, found: list[Fork]) -> _Tested:
        """Whether forks sit behind rejections more often than other near ties do; without a fork there is no place."""
        seen, marked = _near_ties(case, found)
        forked, share = _places(found), case.share(self.name, "clustering")
        counts = {"marked": len(marked), "positions": len(seen)}
        hypothesis = "among near ties, forks are no likelier right behind a rejection"
        placed = clustering.at_marked_places(len(forked & marked), len(forked), **counts, hypothesis=hypothesis)
        designed = clustering.design(**counts, false_alarm=share, miss=case.suite.design.miss)
        return _Tested(placed, designed, float("inf"))


class _Tested(NamedTuple):
    """A test that was made, what it can show, and the effect that it must be able to see."""

    evidence: Evidence
    design: Design
    effect: float


def _places(found: Sequence[Fork]) -> set[tuple[str, int]]:
    """Where answers forked; repeats that fork alike are one place."""
    return {(fork.canary, fork.at) for fork in found}


def _garbled(pairs: Mapping[str, Any]) -> list[str]:
    """Canaries whose ids are the baseline's, and whose text or finish reason is not."""
    first = {a.canary: a.generation for a in by_arm(pairs, "baseline") if a.repeat == 0}
    same = [a for a in by_arm(pairs, "candidate") if a.generation.tokens == first[a.canary].tokens]
    return sorted({a.canary for a in same if shown(a.generation) != shown(first[a.canary])})


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


def _told_forks(found: Sequence[Fork], replays: Mapping[str, Any], noise: float) -> str:
    """How many forks were explained, the largest of their margins, and by what; nothing where there are none."""
    if not found:
        return ""
    largest = max(margin for replay in replays["candidate"] for margin in replay["margin"])
    count = len(_places(found))
    return f"; {count} fork{'s' * (count > 1)} of at most {largest:.2g} logits explained by a noise of {noise:.2g}"


def _untold_forks(unsure: Sequence[Fork]) -> str:
    """How many answers left a kept baseline's at a near tie, and what tells more."""
    first, count = unsure[0], len(unsure)
    return (
        f" but for {count} answer{'s' * (count > 1)} that left the kept baseline's at a near tie, first at token "
        f"{first.at} of {first.canary}: run with the baseline itself to tell a near tie from a fault"
    )


def _visible(decided: int, total: int, detectable: float, limit: float) -> str:
    """The smallest fault rate that would have been seen, and of which tokens where not of all."""
    if not decided:
        return ""
    of = "" if decided == total else f" of those decided by more than {limit:.2g} logits ({decided / total:.0%})"
    return f"a fault that changes 1 greedy token in {round(1 / detectable)}{of}"


def _decided(case: Case, found: Sequence[Fork], limit: float) -> int:
    """Tokens that the plain arm decides by more than `limit` and the candidate got right; repeats count once.

    Another token there would not have been explained. Tokens behind an explained fork count on their own prefix, as
    `explained` judges them. A greedy fault that depends on the tokens alone shows in every repeat or in none.
    """
    pairs, replays = case.observed("pairs"), case.observed("replays")
    plain = [a.canary for a in by_arm(pairs, "baseline") if a.repeat == 0]
    census = dict(zip(plain, replays["census"], strict=True))
    own = {(f.canary, f.label): replay for f, replay in zip(found, replays["candidate"], strict=True)}
    reached: dict[str, int] = {}
    for a in by_arm(pairs, "candidate"):
        gaps = own.get((a.canary, f"repeat {a.repeat}"), census[a.canary])["gap"]
        decided = sum(gap is not None and gap > limit for gap in gaps)
        reached[a.canary] = min(decided, reached.get(a.canary, decided))
    return sum(reached.values())


def _fork_rates(census: Sequence[dict[str, Any]], repeats: int, noise: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The chance of a fork at each baseline token: its gap against noise whose largest value is taken for its scale.

    A token that several repeats meet is one place: what shook one repeat may shake them all, so their chances add.
    """
    gaps = np.array([gap for replay in census for gap in replay["gap"]], np.float64)
    scale = max(noise, QUIET)
    return np.minimum(1.0, repeats * np.asarray(norm.sf(gaps / scale), np.float64))


class _NearTies(NamedTuple):
    """Near ties (canary, token) of the answers up to their first difference, and those of them behind a rejection."""

    seen: set[tuple[str, int]]
    marked: set[tuple[str, int]]


def _near_ties(case: Case, found: Sequence[Fork]) -> _NearTies:
    """Where noise alone may fork, and which of it comes right behind a rejection. Places that repeats share count once.

    A draft is refused where the target itself wavers, so that honest forks, too, are commoner around rejections than
    elsewhere: hence near ties only, and never the replacement, whose fork *is* the rejection.
    """
    pairs, limit = case.observed("pairs"), tolerance(case)
    plain = [a.canary for a in by_arm(pairs, "baseline") if a.repeat == 0]
    gaps = {name: replay["gap"] for name, replay in zip(plain, case.observed("replays")["census"], strict=True)}
    places = _NearTies(set(), set())
    cut = {(fork.canary, fork.label): fork.at for fork in found}
    for a in by_arm(pairs, "candidate"):
        fork = cut.get((a.canary, f"repeat {a.repeat}"))
        shared = gaps[a.canary][: len(a.generation.tokens) if fork is None else fork + 1]
        close = {place for place, gap in enumerate(shared) if gap <= limit or place == fork}
        places.seen.update((a.canary, place) for place in close)
        places.marked.update((a.canary, place) for place in close.intersection(_behind_rejections(a.generation)))
    return places


def _behind_rejections(generation: Generation) -> Iterator[int]:
    """The first token of each round that follows one with a rejection."""
    at = generation.prefill
    for number in generation.rounds:
        at += number.emitted
        if number.accepted < number.drafted:
            yield at
