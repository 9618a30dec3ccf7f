"""Forks against the census of margins: a count of rare events, each place with its own small chance."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from .design import Design
from .evidence import Evidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

TEST = "poisson_binomial.excess"
BISECTIONS = 40
"""Halvings of [0, 1] when the smallest detectable rate is searched: 1e-12, far below any rate that matters."""


def excess(observed: int, rates: ArrayLike, *, hypothesis: str) -> Evidence:
    """Evidence on "no more events than independent places with these `rates` give".

    rates: shape (places,), each the most that the hypothesis allows there. The p-value is the exact upper tail
    `P(S >= observed)`; smaller rates only make it smaller, so bounds may stand in for rates.
    """
    chances = _checked_rates(rates)
    if not 0 <= observed <= chances.size:
        raise ValueError(f"{observed} events at {chances.size} places cannot be")
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=chances.size,
        statistic=float(observed),
        p_value=min(1.0, _laws(chances, observed)[-1]) if chances.size else math.nan,
        details={"expected": float(chances.sum())},
    )


def design(rates: ArrayLike, *, false_alarm: float, miss: float) -> Design:
    """What these places show: the smallest extra rate of events, the same at each place, beside the allowed ones."""
    chances = _checked_rates(rates)
    critical = _critical_count(chances, false_alarm)
    return Design(
        test=TEST,
        n=chances.size,
        false_alarm=false_alarm,
        miss=miss,
        detectable=_smallest_extra(chances, critical, miss) if critical <= chances.size else math.inf,
        effect_unit="rate",
    )


def _laws(chances: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """`P(S = 0), ..., P(S = most - 1), P(S >= most)`, exact but for rounding.

    All terms are positive and the last entry only takes mass in: a tail of 1e-30 is as good as one of 0.3. Places stand
    in about `sqrt(places)` groups that grow side by side and are then joined.
    """
    groups = max(1, math.isqrt(chances.size))
    padded = np.zeros(-(-chances.size // groups) * groups)
    padded[: chances.size] = chances
    laws = np.zeros((groups, most + 1))
    laws[:, 0] = 1.0
    for chance in padded.reshape(-1, groups):
        moved = laws[:, :-1] * chance[:, None]
        laws[:, :-1] *= 1 - chance[:, None]
        laws[:, 1:] += moved
    return reduce(_joined, laws)


def _joined(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The law of a sum of two counts, both with their last entry meaning "that many or more"."""
    law = np.convolve(one, other)
    most = one.size - 1
    return np.append(law[:most], law[most:].sum())


def _critical_count(chances: NDArray[np.float64], false_alarm: float) -> int:
    """The smallest count whose upper tail is at most `false_alarm`; one more than the places where none is."""
    most = 8
    while most < chances.size and _laws(chances, most)[-1] > false_alarm:
        most *= 2
    law = _laws(chances, min(most, chances.size + 1))
    tails = np.cumsum(law[::-1])[::-1]
    return int(np.argmax(tails <= false_alarm)) if (tails <= false_alarm).any() else chances.size + 1


def _smallest_extra(chances: NDArray[np.float64], critical: int, miss: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        missed = _laws(1 - (1 - chances) * (1 - middle), critical)[:-1].sum()
        low, high = (middle, high) if missed > miss else (low, middle)
    return high


def _checked_rates(rates: ArrayLike) -> NDArray[np.float64]:
    chances = np.asarray(rates, dtype=np.float64).ravel()
    if not ((chances >= 0) & (chances <= 1)).all():
        raise ValueError(f"rates must lie in [0, 1]; got {chances.min()} to {chances.max()}")
    return chances
