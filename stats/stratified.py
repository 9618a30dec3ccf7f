"""Draws from many laws, one for each prompt, judged together: Pearson's statistic summed over strata.

A stratum is held against its own law where that is known, and against as many draws of another arm where it is not.
Outcomes too rare to count alone are grouped with their neighbours, in an order in which the difference that is looked
for has no say: by the law, or by the totals of both arms. Each sum is chi-square, and so is the sum of all.

A law may be known up to noise only. `divergence` is how far that may take an honest engine's law from it; each draw
then adds as much to the noncentrality of the sum, for which nobody is blamed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from .chi_square import STRICT_FACTOR, STRICT_FLOOR
from .counts import checked_counts, checked_law
from .design import Design
from .evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

TEST = "stratified.pearson"
UNIT = "total variation, mean over prompts after grouping"
MOST_FOR_NOISE = 4
"""Times the draws that do without noise, made for its sake at most: noise then hides half of the effect."""


class Stratum(NamedTuple):
    """One prompt's part in the sum.

    cells
        Groups that are compared; a single one shows nothing.
    weight
        Draws against a known law that show as much: all `n` of them, or half of those held against other draws.
    noise
        The most noncentrality that noise can add.
    """

    statistic: float
    cells: int
    n: int
    weight: float
    noise: float


def divergence(logits: float, tokens: int) -> float:
    """The most chi-square divergence between two laws of `tokens` tokens whose logits differ by errors up to `logits`.

    Errors are differences between any two logits, over the temperature. A ratio of masses then varies by a factor of
    exp(logits) at most, and its mean is 1: its variance is `sinh(logits / 2)**2` at most (Bhatia and Davis 2000), and
    `1 +` that of each token multiplies. Infinite where that is too large for a float64.
    """
    try:
        return math.expm1(2 * tokens * math.log(math.cosh(logits / 2)))
    except OverflowError:
        return math.inf


def against_law(counts: ArrayLike, probs: ArrayLike, *, floor: float, noise: float) -> Stratum:
    """Draws held against their own law, (outcomes,) each; an outcome of probability zero that was drawn raises."""
    observed, law = checked_counts(counts), checked_law(probs)
    if observed[law == 0].any():
        raise ValueError(f"an outcome of probability 0 was drawn {observed[law == 0].max()} times; test the support")
    n = int(observed.sum())
    groups = _groups(n * law, np.lexsort((np.arange(law.size), -law)), floor)
    expected, found = (np.bincount(groups, weights=of) for of in (n * law, observed))
    statistic = float(((found - expected) ** 2 / expected).sum()) if n else 0.0
    return _stratum(statistic, len(expected), n, n, noise)


def against_draws(ones: ArrayLike, others: ArrayLike, *, floor: float, noise: float) -> Stratum:
    """As many draws of two arms held against each other, (outcomes,) each, in an order that neither arm decides."""
    one, other = checked_counts(ones), checked_counts(others)
    n = int(one.sum())
    if n != int(other.sum()):
        raise ValueError(f"{n} draws cannot be held against {int(other.sum())}; make as many of both")
    both = one + other
    groups = _groups(both / 2, np.lexsort((np.arange(both.size), -both)), floor)
    total, apart = (np.bincount(groups, weights=of) for of in (both, one - other))
    statistic = float((apart**2 / total).sum()) if n else 0.0
    return _stratum(statistic, len(total), n, n / 2, noise)


def evidence(strata: Sequence[Stratum], *, hypothesis: str, floor: float) -> Evidence:
    """Evidence on "the draws of each stratum follow its law". The p-value is doubled at a strict floor."""
    freedom, n = _freedom(strata), sum(stratum.n for stratum in strata)
    statistic = math.fsum(stratum.statistic for stratum in strata)
    tail = _tail(statistic, freedom, _noise(strata)) if freedom else 1.0
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=n,
        statistic=statistic,
        p_value=min(1.0, _factor(floor) * tail) if n else math.nan,
        details={"freedom": freedom, "strata": len(_telling(strata)), "noise": _noise(strata)},
    )


def design(strata: Sequence[Stratum], *, floor: float, false_alarm: float, miss: float) -> Design:
    """What these strata show: the smallest total variation, on average over those that show anything.

    Cauchy-Schwarz as in `design.chi_square_detectable`; what noise adds may hide a fault, so it counts against it.
    """
    rates = {"false_alarm": false_alarm / _factor(floor), "miss": miss}
    weight = math.fsum(stratum.weight for stratum in _telling(strata))
    return Design(
        test=TEST,
        n=sum(stratum.n for stratum in strata),
        false_alarm=false_alarm,
        miss=miss,
        detectable=_detectable(_freedom(strata), weight, _noise(strata), **rates),
        effect_unit=UNIT,
    )


def draws_each(  # noqa: PLR0913
    effect: float,
    known: int,
    other: int,
    *,
    noise: float,
    least: int,
    step: int,
    floor: float,
    false_alarm: float,
    miss: float,
) -> int:
    """Draws a stratum, `least` or more and a multiple of `step`, after which `effect` shows, noise included.

    `known` strata are held against laws, `other` ones against draws. Planned as if each had as many cells as its draws
    fill: fewer show more. Where noise hides the effect from `MOST_FOR_NOISE` times the draws, too, no more are made.
    """
    if known + other < 1 or not 0 < effect <= 1:
        raise ValueError(f"an effect of {effect} cannot be planned for in {known + other} strata")
    held = {"false_alarm": false_alarm / _factor(floor), "miss": miss}

    def shows(calls: int, noise: float) -> bool:
        n = calls * step
        freedom = (known + other) * max(int(n / floor) - 1, 1)
        return _detectable(freedom, n * (known + other / 2), n * (known + other) * noise, **held) <= effect

    calls = _first(lambda calls: shows(calls, 0.0), -(-least // step))
    if shows(MOST_FOR_NOISE * calls, noise):
        calls = _first(lambda calls: shows(calls, noise), calls)
    return calls * step


def _first(holds: Callable[[int], bool], least: int) -> int:
    """A whole number from `least` on at which it begins to hold."""
    low, high = least - 1, least
    while not holds(high):
        low, high = high, 2 * high
    return bisect_left(range(high), x=True, lo=low + 1, hi=high, key=holds)


def _stratum(statistic: float, cells: int, n: int, weight: float, noise: float) -> Stratum:
    """A stratum; one whose noise may be a whole law's mass shows nothing."""
    return Stratum(statistic, cells, n, weight, n * noise) if noise < 1 else Stratum(0.0, 1, n, weight, 0.0)


def _groups(expected: NDArray[np.float64], order: NDArray[np.int64], floor: float) -> NDArray[np.int64]:
    """For each outcome the number of its group: in this order, each group closed once it expects `floor`.

    What is left over joins the last group.
    """
    groups, number, filled = np.zeros(len(order), np.int64), 0, 0.0
    for outcome in order:
        groups[outcome] = number
        filled += expected[outcome]
        if filled >= floor:
            number, filled = number + 1, 0.0
    return np.minimum(groups, max(number - 1, 0))


def _telling(strata: Iterable[Stratum]) -> list[Stratum]:
    return [stratum for stratum in strata if stratum.cells > 1]


def _freedom(strata: Iterable[Stratum]) -> int:
    return sum(stratum.cells - 1 for stratum in strata)


def _noise(strata: Iterable[Stratum]) -> float:
    return math.fsum(stratum.noise for stratum in _telling(strata))


def _factor(floor: float) -> float:
    return STRICT_FACTOR if floor >= STRICT_FLOOR else 1.0


def _tail(statistic: float, freedom: int, noise: float) -> float:
    return float(ncx2.sf(statistic, freedom, noise) if noise else chi2.sf(statistic, freedom))


def _detectable(freedom: int, weight: float, noise: float, *, false_alarm: float, miss: float) -> float:
    if not (freedom and weight and math.isfinite(noise)):
        return math.inf
    distance = (math.sqrt(_needed(freedom, noise, false_alarm, miss)) + math.sqrt(noise)) / math.sqrt(4 * weight)
    return distance if distance <= 1 else math.inf


@lru_cache(maxsize=1 << 12)
def _needed(freedom: int, noise: float, level: float, miss: float) -> float:
    """The noncentrality that is missed with chance `miss` where an honest engine's may be `noise`."""
    above = freedom + noise + 1.0
    while _tail(above, freedom, noise) > level:
        above *= 2
    critical = float(brentq(lambda x: _tail(x, freedom, noise) - level, 0.0, above, xtol=1e-9))
    high = critical
    while float(ncx2.cdf(critical, freedom, high)) > miss:
        high *= 2
    return float(brentq(lambda x: float(ncx2.cdf(critical, freedom, x)) - miss, 0.0, high))
