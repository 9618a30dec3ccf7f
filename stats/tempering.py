"""At what temperature were tokens drawn? The most likely one, with an interval. A figure: it rejects nothing.

At `t` times the temperature that was asked for, a law `p` becomes `p ** (1 / t)`, normalised, on the tokens that were
kept. That is an exponential family in `1 / t`: the likelihood has one top, where the mean of `log p` is that of the
draws.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import chi2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Drawn = tuple[NDArray[np.int64], NDArray[np.float64]]

LEAST, MOST = 1 / 64, 64.0
"""Relative temperatures that are told apart; what lies outside is told as the nearer end."""


class Tempered(NamedTuple):
    """The most likely temperature, relative to the one that was asked for, and the ends of its interval."""

    estimate: float
    low: float
    high: float


def estimate(drawn: Sequence[Drawn], *, confidence: float) -> Tempered | None:
    """From counts and laws, (tokens,) each, one pair a prompt; None where no law leaves a choice.

    The interval holds what the likelihood ratio does not refuse (Wilks 1938).
    """
    kept = [(counts[law > 0], np.log(law[law > 0])) for counts, law in drawn if (law > 0).sum() > 1]
    if not sum(int(counts.sum()) for counts, _ in kept):
        return None

    def likelihood(inverse: float) -> float:
        return math.fsum((counts * (logs * inverse - logsumexp(logs * inverse))).sum() for counts, logs in kept)

    def slope(inverse: float) -> float:
        return math.fsum((counts * (logs - _mean(logs, inverse))).sum() for counts, logs in kept)

    best = _root(slope, 1 / MOST, 1 / LEAST)
    limit = likelihood(best) - float(chi2.ppf(confidence, 1)) / 2

    def beyond(inverse: float) -> float:
        return likelihood(inverse) - limit

    low, high = _root(beyond, best, 1 / LEAST), _root(lambda inverse: -beyond(inverse), 1 / MOST, best)
    return Tempered(1 / best, 1 / low, 1 / high)


def _mean(logs: NDArray[np.float64], inverse: float) -> float:
    """The mean of `log p` where p is tempered."""
    return float((np.exp(logs * inverse - logsumexp(logs * inverse)) * logs).sum())


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is zero; the nearer end where it is not in between."""
    if falling(low) <= 0:
        return low
    return float(brentq(falling, low, high)) if falling(high) < 0 else high
