"""Do rounds share random numbers? Pairs of rounds whose drafts are fixed, so that outcomes show the sampler's chance.

Every law is the same: the draft token is chosen and the target takes it with chance 1/2. Whether each of the first
tokens is the drafted one is then a fair coin, and a pair of rounds is so many coins: rows of a call at several lags
(half a batch meets antithetic halves), and the same row in calls one after the other (re-seeded generators).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....stats import chi_square
from ....stats.design import Design
from ....stats.evidence import Evidence
from ....suites.samplers import Independence
from ...contracts import Reason
from ..laws import Bundle, Floats, Problem
from ..trial import Ints
from .base import Look, Rates, chi_square_rounds

BUNDLE = "coins"
COINS = 3
"""Tokens of a round that count as coins, if it has so many."""


def bundle(asked: Independence, draft_length: int) -> Bundle:
    """One problem without memory: at each position another token is drafted, and has half of the target's mass."""
    v = asked.vocabulary
    target, draft = [], []
    for place in range(draft_length + 1):
        p = np.full(v, 0.5 / (v - 1))
        p[place % v] = 0.5
        target.append(p[None])
        draft.append(np.eye(v)[place % v][None])
    problem = Problem(name="half", target=tuple(target), draft=tuple(draft[:-1]))
    return Bundle(BUNDLE, (problem,))


class Pairs:
    """Counts of pairs of rounds, for each lag in rows and in calls; no round is in two pairs of one lag."""

    def __init__(self, asked: Independence, rows: int, draft_length: int) -> None:
        self.coins = min(COINS, draft_length + 1)
        lags = {f"rows {lag} apart": lag for lag in asked.lags if lag < rows}
        index = np.arange(rows)
        self._left = {name: index[(index // lag % 2 == 0) & (index + lag < rows)] for name, lag in lags.items()}
        self._lags, self._calls = lags, {f"calls {n} apart": n for n in asked.calls}
        self._before: list[Ints] = []
        cells = 4**self.coins
        self.counts = {name: np.zeros(cells, np.int64) for name in (*lags, *self._calls)}
        self.vocabulary = asked.vocabulary

    def add(self, tokens: Ints) -> None:
        """One call's completed tokens (B, K + 1)."""
        code = np.zeros(len(tokens), np.int64)
        for place in range(self.coins):
            code = 2 * code + (tokens[:, place] == place % self.vocabulary)
        for name, lag in self._lags.items():
            left = self._left[name]
            self._count(name, code[left], code[left + lag])
        number = len(self._before)
        for name, back in self._calls.items():
            if number >= back and number // back % 2:
                self._count(name, self._before[number - back], code)
        self._before.append(code.astype(np.int8))

    def _count(self, name: str, one: Ints, other: Ints) -> None:
        both = one.astype(np.int64) * 2**self.coins + other
        self.counts[name] += np.bincount(both, minlength=4**self.coins)

    def enough(self, pairs: int) -> bool:
        """Whether every lag has so many pairs."""
        return all(counts.sum() >= pairs for counts in self.counts.values())


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """Chi-square of the pairs at one lag against fair coins."""

    cell: str
    pairs: Pairs
    bundle: str = BUNDLE
    check: str = "independence"
    reason: Reason = Reason.DISTRIBUTION

    @property
    def _law(self) -> Floats:
        return np.full(4**self.pairs.coins, 0.25**self.pairs.coins)

    def rounds(self, rates: Rates) -> int:
        """Pairs, not rounds."""
        return chi_square_rounds(self._law, rates)

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest distance of the law of a pair."""
        return chi_square.design(n, self._law, false_alarm=rates.false_alarm, miss=rates.miss)

    def evidence(self, _: Look | None, rates: Rates) -> Evidence:
        """The counted pairs."""
        return chi_square.goodness_of_fit(
            self.pairs.counts[self.cell],
            self._law,
            hypothesis=f"rounds {self.cell} are independent",
            floor=chi_square.expected_floor(rates.false_alarm),
        )
