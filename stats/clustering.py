"""Whether forks sit at marked places (rejections, block edges) more often than chance puts them there."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta, hypergeom

from .design import Design
from .evidence import Evidence

TEST = "clustering.at_marked_places"


def at_marked_places(marked_forks: int, forks: int, *, marked: int, positions: int, hypothesis: str) -> Evidence:
    """Evidence on "a fork is no likelier at one of the `marked` of `positions` places than elsewhere".

    Fisher's exact test, one-sided: `P(X >= marked_forks)` for X hypergeometric. No forks at all give p = 1.
    """
    if not (0 <= marked_forks <= forks <= positions and marked_forks <= marked <= positions):
        raise ValueError(
            f"{marked_forks} of {forks} forks at {marked} marked of {positions} places cannot be; check the counts"
        )
    if forks - marked_forks > positions - marked:
        raise ValueError(f"{forks - marked_forks} forks do not fit in {positions - marked} unmarked places")
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=positions,
        statistic=float(marked_forks),
        p_value=min(1.0, float(hypergeom.sf(marked_forks - 1, positions, marked, forks))) if positions else math.nan,
        details={
            "forks": float(forks),
            "marked": float(marked),
            "expected": forks * marked / positions if positions else math.nan,
        },
    )


def design(*, marked: int, positions: int, false_alarm: float, miss: float) -> Design:
    """What these places show: the smallest fork rate at marked places, where no other place forks.

    `needed` forks, all marked, are the fewest with a small enough p-value; the rate is the one that brings them.
    """
    return Design(
        test=TEST,
        n=positions,
        false_alarm=false_alarm,
        miss=miss,
        detectable=_smallest_rate(marked, positions, false_alarm=false_alarm, miss=miss),
        effect_unit="rate",
    )


def _smallest_rate(marked: int, positions: int, *, false_alarm: float, miss: float) -> float:
    forks = np.arange(marked + 1)
    enough = np.asarray(hypergeom.sf(forks - 1, positions, marked, forks) <= false_alarm)
    needed = int(np.argmax(enough))
    return float(beta.isf(miss, needed, marked - needed + 1)) if enough.any() else math.inf
