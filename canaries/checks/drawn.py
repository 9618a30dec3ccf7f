"""Reads a `samples` observation back: what each arm drew at each place, and what is held against what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...stats import stratified
from ...stats.counts import MASS_SLACK
from ...stats.stratified import Stratum
from ..observations.pairs import BASELINE, CANDIDATE

Ints = npt.NDArray[np.int64]
OTHER = {BASELINE: CANDIDATE, CANDIDATE: BASELINE}
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One prompt's answers. `drawn[arm]` has shape (calls, rows) and holds numbers of answers.

    `law` are the kept first tokens with their masses, None where unknown; `masses` those of each answer's tokens under
    plain decoding, NaN where unknown; `ended` whether it reached its limit, or its end and no further.
    """

    canary: str
    law: Mapping[int, float] | None
    answers: Sequence[Tokens]
    masses: Sequence[npt.NDArray[np.float64]]
    ended: npt.NDArray[np.bool_]
    drawn: Mapping[str, Ints]

    def counts(self, arm: str) -> Ints:
        """How often each answer came, (answers,)."""
        return np.bincount(self.drawn[arm].ravel(), minlength=len(self.answers))

    def firsts(self, arm: str) -> dict[int, int]:
        """How often each first token came; -1 is none, where an answer is empty."""
        found: dict[int, int] = {}
        for answer, times in zip(self.answers, self.counts(arm).tolist(), strict=True):
            token = answer[0] if answer else -1
            found[token] = found.get(token, 0) + times
        return {token: times for token, times in found.items() if times}

    def apart(self, arm: str, calls: int, rows: int) -> Iterator[tuple[int, int]]:
        """Pairs of answers so many calls, or so many rows of a call, apart; no answer is in two of them."""
        drawn = self.drawn[arm].tolist()
        for call in range(len(drawn) - calls):
            for row in range(len(drawn[call]) - rows):
                if (call // calls if calls else row // rows) % 2 == 0:
                    yield drawn[call][row], drawn[call + calls][row + rows]


def read(observed: Mapping[str, Any], tokens: int, eos: Sequence[int]) -> list[Drawn]:
    """All prompts of a record, whose answers have `tokens` tokens or end with one of `eos`."""

    def ended(answer: Sequence[int]) -> bool:
        return not set(answer[:-1]) & set(eos) and (len(answer) == tokens or answer[-1:] in [[end] for end in eos])

    return [
        Drawn(
            canary=one["canary"],
            law=None if one["law"] is None else dict(one["law"]),
            answers=[tuple(answer) for answer in one["answers"]],
            masses=[np.array(masses, np.float64) for masses in one["prob"]],
            ended=np.array([ended(answer) for answer in one["answers"]]),
            drawn={arm: np.array(one[arm], np.int64) for arm in OTHER},
        )
        for one in observed["prompts"]
    ]


def first_tokens(one: Drawn, arm: str, *, floor: float, noise: float) -> Stratum:
    """First tokens against their law, or against the other arm's where it is unknown.

    A token that the law leaves out, but that was borne with as lying at its edge, counts as the rarest kept one.
    """
    came = one.firsts(arm)
    if one.law is None:
        other = one.firsts(OTHER[arm])
        tokens = sorted({*came, *other})
        both = ([count.get(token, 0) for token in tokens] for count in (came, other))
        return stratified.against_draws(*both, floor=floor, noise=noise)
    counts = {token: came.get(token, 0) for token in one.law}
    rarest = min(one.law, key=lambda token: (one.law[token], token))  # type: ignore[index]
    counts[rarest] += sum(times for token, times in came.items() if token not in one.law)
    return stratified.against_law(list(counts.values()), list(one.law.values()), floor=floor, noise=noise)


def by_mass(one: Drawn, arm: str, *, floor: float, noise: float) -> Stratum:
    """Answers against their masses, up to as many tokens as leave the most groups to compare.

    What is told apart is what the other arm drew, so that the arm that is judged has no say in it; all else is one.
    """
    longest = max(map(len, one.answers))
    found = [_begun(one, arm, tokens, floor=floor, noise=noise) for tokens in range(longest, 0, -1)]
    return max(found, key=lambda stratum: stratum.cells)


def _begun(one: Drawn, arm: str, tokens: int, *, floor: float, noise: float) -> Stratum:
    """The first `tokens` tokens of each answer, fewer where it ended, against their mass."""
    own, other = one.counts(arm).tolist(), one.counts(OTHER[arm]).tolist()
    masses: dict[Tokens, float] = {}
    for number, answer in enumerate(one.answers):
        mass = float(one.masses[number][:tokens].prod())
        if other[number] and mass > 0 and (one.ended[number] or len(answer) > tokens):
            masses[answer[:tokens]] = mass
    counts = dict.fromkeys(masses, 0)
    rest = 1 - math.fsum(masses.values())
    stray = 0
    for answer, times in zip(one.answers, own, strict=True):
        if answer[:tokens] in counts:
            counts[answer[:tokens]] += times
        else:
            stray += times
    listed, probs = [*counts.values()], [*masses.values()]
    if probs and rest <= MASS_SLACK:  # nothing is left but rounding and noise: it counts as the rarest
        listed[probs.index(min(probs))] += stray
        return stratified.against_law(listed, np.array(probs) / math.fsum(probs), floor=floor, noise=noise)
    return stratified.against_law([*listed, stray], [*probs, rest], floor=floor, noise=noise)


def whole_answers(one: Drawn, arm: str, *, floor: float, noise: float) -> Stratum:
    """Whole answers against their masses; against the other arm's draws where too few masses are known."""
    found = by_mass(one, arm, floor=floor, noise=noise)
    if found.cells > 1:
        return found
    order = sorted(range(len(one.answers)), key=lambda number: one.answers[number])
    counts, other = (one.counts(which)[order] for which in (arm, OTHER[arm]))
    return stratified.against_draws(counts, other, floor=floor, noise=noise)


def contrary(observed: Mapping[str, Any]) -> str | None:
    """What speaks against itself: a law that is none, or masses of one token that are more than all."""
    for one in observed["prompts"]:
        law = one["law"] if one["law"] is not None else [(0, 1.0)]
        if len(dict(law)) < len(law) or abs(math.fsum(mass for _, mass in law) - 1) > MASS_SLACK:
            return f"what may come after {one['canary']} is no law"
        for below, prob in zip(one["below"], one["prob"], strict=True):
            torn = [(b, p) for b, p in zip(below, prob, strict=True) if None not in (b, p) and b + p > 1 + MASS_SLACK]
            if torn:
                return f"below is {torn[0][0]:g} and prob {torn[0][1]:g}, more than all mass"
    return None
