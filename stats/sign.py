"""Whether something happens more often in one of two arms, from pairs: the sign test on the pairs that differ.

McNemar (1947), exact and one-sided. Pairs in which both arms or neither show it say nothing; where the arms are alike,
each of the others falls either way with chance one half.
"""

from __future__ import annotations

import math

from scipy.stats import beta, binom

from .design import Design
from .evidence import Evidence

TEST = "sign.excess"


def excess(alone: int, other: int, n: int, *, hypothesis: str) -> Evidence:
    """Evidence on "no more often here than there": in `alone` of `n` pairs only here, in `other` only there.

    p = P(X >= alone) for X binomial(alone + other, 1/2); 1 where no pair differs.
    """
    if not (alone >= 0 <= other and alone + other <= n):
        raise ValueError(f"{alone} and {other} of {n} pairs cannot differ; check the counts")
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=n,
        statistic=float(alone),
        p_value=float(binom.sf(alone - 1, alone + other, 0.5)) if n else math.nan,
        details={"other": float(other)},
    )


def design(n: int, other: int, *, false_alarm: float, miss: float) -> Design:
    """What `n` pairs show, `other` of which have it only there: the smallest rate of "only here" among the rest.

    Given `other`, the count of the rest is binomial, so this is exact: `needed` of them make the p-value small enough,
    and the rate is the one that brings them (a Beta quantile, Clopper and Pearson 1934).
    """
    needed, rest = _needed(other, false_alarm), n - other
    return Design(
        test=TEST,
        n=n,
        false_alarm=false_alarm,
        miss=miss,
        detectable=float(beta.isf(miss, needed, rest - needed + 1)) if needed <= rest else math.inf,
        effect_unit="rate",
    )


def _needed(against: int, false_alarm: float) -> int:
    """The fewest pairs on this side whose p-value is small enough, beside `against` on the other."""
    needed = 1
    while binom.sf(needed - 1, needed + against, 0.5) > false_alarm:
        needed += 1
    return needed
