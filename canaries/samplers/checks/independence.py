"""Do rounds share random numbers? Rounds whose drafts are fixed, so that outcomes show the sampler's own chance.

Every law is the same: the draft token is chosen and the target takes it with chance 1/2; four other tokens share the
rest. Whether each of the first tokens is the drafted one is then a fair coin, and so is, of the first token that is
not, whether it is among the lower two: the accepting uniforms and that of the last token. All coins of all rounds are
compared at every distance: rows of one call (antithetic halves, overlapping streams), and calls (re-seeded generators,
a pool of numbers that is used again).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch

from ....stats import agreement
from ....stats.design import Design
from ....stats.evidence import Evidence
from ....suites.samplers import Independence
from ...contracts import Reason
from ..laws import Bundle, Problem
from ..trial import Trial
from .base import Look, Rates

BUNDLE = "coins"
TOKENS = 3
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


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """Agreement of all coins at every distance in `rows` a call and in calls."""

    rows: int
    tokens: int
    coins: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    cell: str = BUNDLE
    bundle: str = BUNDLE
    check: str = "independence"
    reason: Reason = Reason.DISTRIBUTION

    @classmethod
    def planned(cls, asked: Independence, rows: int, draft_length: int) -> IndependenceTest:
        """The test for calls of at most so many rows."""
        return cls(min(rows, asked.batch), min(TOKENS, draft_length + 1))

    def rounds(self, rates: Rates) -> int:
        """Rounds of as many calls as two rows that meet once a call need."""
        alarm, layers = rates.false_alarm, self.tokens + 1
        calls = agreement.calls_for(rates.effect, layers, self.rows, false_alarm=alarm, miss=rates.miss)
        return calls * self.rows

    def draw(self, trial: Trial, rates: Rates) -> None:
        """All calls are made and their coins kept."""
        for _ in range(self.rounds(rates) // self.rows):
            self.coins.append(self._coins(trial, trial.completed(trial.once().tokens.cpu())))

    def _coins(self, trial: Trial, tokens: torch.Tensor) -> npt.NDArray[np.bool_]:
        """(tokens + 1, rows) of one call's tokens (B, K + 1). The last is ours where all tokens are drafted ones."""
        drafted = torch.arange(tokens.shape[1]) % trial.bundle.vocabulary
        taken = tokens == drafted
        first = taken.long().cumprod(dim=1).sum(dim=1)
        at = first.clamp(max=tokens.shape[1] - 1)
        token = tokens.gather(1, at[:, None])[:, 0]
        lower = token - (token > drafted[at]).long() < (trial.bundle.vocabulary - 1) // 2
        own = torch.rand(len(tokens), generator=trial.settings.ours) < 0.5  # noqa: PLR2004 (a fair coin)
        last = torch.where(first == tokens.shape[1], own, lower)
        return torch.cat([taken[:, : self.tokens].T, last[None]]).numpy()

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest shift of a rate of agreement that `n` rounds show."""
        grid = agreement.Grid(self.tokens + 1, n // self.rows, self.rows)
        return agreement.design(grid, false_alarm=rates.false_alarm, miss=rates.miss)

    def evidence(self, look: Look | None, rates: Rates) -> Evidence:
        """The rounds that agree most strangely."""
        del look, rates
        coins = np.stack(self.coins, axis=1)
        found = agreement.at_any_shift(coins, hypothesis="rounds share no random numbers")
        rows, calls = (int(found.details[f"{name}_apart"]) for name in ("rows", "calls"))
        apart = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((abs(rows), "row"), (calls, "call")) if n]
        return replace(found, hypothesis=f"rounds {' and '.join(apart)} apart share no random numbers")
