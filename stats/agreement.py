"""Whether places of a grid of fair coins agree too often or too rarely, at any distance from one another.

The grid has `layers` coins at each of `calls` times `rows` places. At one shift, coin a of every place meets coin b of
the place that lies so many calls and rows further on. No coin is met twice from one side, so these meetings form open
chains, and "they agree" are independent fair events, exactly: one binomial test a shift, over all shifts that are met
at least once a call on average. All sums of all shifts come from one Fourier transform.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import fft
from scipy.stats import binom

from .design import Design, binomial_detectable
from .evidence import Evidence

TEST = "agreement.at_any_shift"


class Grid(NamedTuple):
    """How many coins lie where."""

    layers: int
    calls: int
    rows: int

    @property
    def meetings(self) -> npt.NDArray[np.int64]:
        """Meetings at a shift by c calls on and r rows, at [c, r + rows - 1]; 0 where it is not looked at.

        Not looked at: what counts a pair again from its other side, no shift at all, and fewer meetings than calls.
        """
        n = np.outer(self.calls - np.arange(self.calls), self.rows - abs(np.arange(1 - self.rows, self.rows)))
        n[:1, : self.rows] = 0
        return np.where(n >= self.calls, n, 0)

    @property
    def looks(self) -> int:
        """How many sums are looked at: all shifts, for all pairs of layers."""
        return self.layers**2 * int(np.count_nonzero(self.meetings))


class Strongest(NamedTuple):
    """The sum of one pair of layers that is largest beside its spread: `squared / n`, and where it is."""

    strength: float
    calls: int
    rows: int
    n: int
    agreeing: int


def at_any_shift(coins: npt.NDArray[np.bool_], *, hypothesis: str) -> Evidence:
    """Evidence on "all coins (layers, calls, rows) are fair and independent". n counts places.

    The p-value is the exact one of the strangest agreement times the number of those looked at (Bonferroni); where it
    is, `calls_apart` and `rows_apart` say.
    """
    grid = Grid(*coins.shape)
    n, size = grid.meetings, [fft.next_fast_len(2 * length, real=True) for length in coins.shape[1:]]
    if not n.any():
        return Evidence(test=TEST, hypothesis=hypothesis, n=0, statistic=math.nan, p_value=math.nan)
    waves = fft.rfft2(np.where(coins, 1, -1).astype(np.float32), size)
    found = [
        _strongest(fft.irfft2(waves[a].conj() * waves[b], size), n) for a, b in product(range(grid.layers), repeat=2)
    ]
    best = max(found)
    tail = 2 * float(binom.cdf(min(best.agreeing, best.n - best.agreeing), best.n, 0.5))
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=grid.calls * grid.rows,
        statistic=best.agreeing / best.n,
        p_value=min(1.0, grid.looks * tail),
        details={"calls_apart": best.calls, "rows_apart": best.rows, "meetings": best.n, "looks": grid.looks},
    )


def _strongest(sums: npt.NDArray[np.float32], n: npt.NDArray[np.int64]) -> Strongest:
    """`sums` are those of products of signs, cyclic, with room for shifts to either side."""
    calls, width = n.shape
    rows = (width + 1) // 2
    sums = np.concatenate([sums[:calls, sums.shape[1] + 1 - rows :], sums[:calls, :rows]], axis=1)
    strength = np.where(n > 0, sums**2 / np.maximum(n, 1), 0)
    at = int(strength.argmax())
    meetings = int(n.flat[at])
    agreeing = (meetings + round(float(sums.flat[at]))) // 2
    return Strongest(float(strength.flat[at]), at // width, at % width + 1 - rows, meetings, agreeing)


def design(grid: Grid, *, false_alarm: float, miss: float) -> Design:
    """What a grid shows: the smallest shift of the rate of agreement that is found even where meetings are fewest."""
    level = false_alarm / max(1, grid.looks)
    return Design(
        test=TEST,
        n=grid.calls * grid.rows,
        false_alarm=false_alarm,
        miss=miss,
        detectable=binomial_detectable(grid.calls, 0.5, false_alarm=level, miss=miss),
        effect_unit="rate",
    )


@lru_cache(maxsize=1 << 10)
def calls_for(effect: float, layers: int, rows: int, *, false_alarm: float, miss: float) -> int:
    """The fewest calls after which a rate of agreement that is off by `effect` is found at any shift."""
    if not 0 < effect < 0.5:  # noqa: PLR2004 (a fair coin's room)
        raise ValueError(f"a rate of agreement cannot be off by {effect}; the effect must lie in (0, 0.5)")
    calls = 1
    while design(Grid(layers, calls, rows), false_alarm=false_alarm, miss=miss).detectable > effect:
        calls += 1
    return calls
