"""At what temperature are tokens emitted? An estimate of T with an interval, and a wager against T = 1.

Only the first token of a round is looked at: it is always the sampler's own; later ones may be completed at T = 1.
The law at temperature T is `p ** (1 / T)`, normalised. The wager is the mean of the likelihood ratios of a grid of T
against T = 1: an e-value, valid whenever one looks. The interval holds every T that such a wager does not rule out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ....stats.design import Design
from ....stats.evidence import Evidence
from ...contracts import Reason
from ..laws import Bundle, Floats
from ..trial import Ints, few_outcomes
from .base import Look, Rates, Test

TEST = "temperature.likelihood_ratio"
LEVEL = 1e-6
"""Rates at which problems are compared; the ones that a test is held to come from its plan."""
TILTS = np.linspace(0.1, 0.9, 9)
"""Where Chernoff's bound on a miss is looked for."""


@dataclass(frozen=True, slots=True)
class TemperatureTest:
    """The first tokens of one problem, of law `law` (V,). `grid` are the temperatures that are wagered on."""

    bundle: str
    cell: str
    index: int
    law: Floats
    grid: tuple[float, ...]
    overlaps: Floats
    check: str = "temperature"
    reason: Reason = Reason.DISTRIBUTION

    def rounds(self, rates: Rates) -> int:
        """Enough to find T off by `effect`, up or down."""
        n = 1
        while self._detectable(n, rates) > rates.effect:
            n *= 2
        low = n // 2
        while n - low > max(1, n // 100):
            middle = (low + n) // 2
            low, n = (low, middle) if self._detectable(middle, rates) <= rates.effect else (middle, n)
        return n

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest relative error of T of those on the grid that is found, up and down."""
        return Design(
            test=TEST,
            n=n,
            false_alarm=rates.false_alarm,
            miss=rates.miss,
            detectable=self._detectable(n, rates),
            effect_unit="relative error of T",
        )

    def _detectable(self, n: int, rates: Rates) -> float:
        limit = math.log(len(self.grid) / rates.false_alarm)
        missed = (TILTS * limit + n * self.overlaps).min(axis=1)  # Chernoff: log of the chance to win less than limit
        off = [round(abs(t - 1), 6) for t in self.grid]
        hidden = max((o for o, m in zip(off, missed, strict=True) if o and m > math.log(rates.miss)), default=0.0)
        return min((o for o in off if o > hidden), default=math.inf)

    def evidence(self, look: Look, rates: Rates) -> Evidence:
        """The wager; `temperature`, `low` and `high` in its details."""
        counts = look.seen.tokens[0][self.index]
        ratios = np.array([_log_ratio(counts, self.law, t) for t in self.grid])
        wealth = float(logsumexp(ratios)) - math.log(len(self.grid))
        inside = [t for t, r in zip(self.grid, ratios, strict=True) if wealth - r < -math.log(rates.false_alarm)]
        n = int(counts.sum())
        return Evidence(
            test=TEST,
            hypothesis="tokens are emitted at the target's own temperature",
            n=n,
            statistic=wealth,
            p_value=min(1.0, math.exp(-wealth)) if n else math.nan,
            details={
                "temperature": float(self.grid[int(ratios.argmax())]),
                "low": min(inside, default=math.nan),
                "high": max(inside, default=math.nan),
            },
        )


def tempered(law: Floats, t: float) -> Floats:
    """`law` (V,) at temperature `t`; tokens of mass 0 keep it."""
    powered = law ** (1 / t)
    changed: Floats = powered / powered.sum()
    return changed


def _overlap(law: Floats, t: float, s: float) -> float:
    """`log E_t[(p / p_t)**s]` of one token."""
    return float(np.log((law**s * tempered(law, t) ** (1 - s)).sum()))


def _log_ratio(counts: Ints, law: Floats, t: float) -> float:
    inside = law > 0
    return float((counts[inside] * (np.log(tempered(law, t)[inside]) - np.log(law[inside]))).sum())


def planned(bundle: Bundle, effect: float, span: float) -> list[Test]:
    """One test a bundle with many outcomes, on the problem that shows T with the fewest rounds: flat laws hardly do.

    The grid has quarters of `effect` near 1, whole ones further off, and wider steps up to `span`.
    """
    likely = Rates(LEVEL, LEVEL, effect)
    steps = [effect * 2**i for i in range(int(math.log2(span / effect)) + 1)]
    near = [effect * i / 4 for i in range(1, 9)] + [effect * i for i in range(3, 16) if effect * i < span]
    grid = sorted({1.0, *(round(1 + sign * step, 6) for step in (*steps, *near) for sign in (1, -1))})
    found: list[Test] = []
    for index, problem in enumerate([] if few_outcomes(bundle) else bundle.problems):
        law = problem.target[0][0]
        overlaps = np.array([[_overlap(law, t, float(s)) for s in TILTS] for t in grid])
        cell = f"{bundle.name}/{problem.name}"
        found.append(TemperatureTest(bundle.name, cell, index, law, tuple(grid), overlaps))
    return sorted(found, key=lambda test: test.rounds(likely))[:1]
