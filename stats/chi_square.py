"""Pearson's goodness of fit to a known law, with the care that tiny false-alarm rates need.

The chi-square tail is an approximation, and a poor one far out: with 5 expected in every cell, a nominal 1e-8 is really
9.7e-7; with 100 expected it is 1.8e-8. So below `SMALL` every cell must expect 100 draws, and a p-value is doubled.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from .counts import cells_after_pooling, checked_counts, checked_law, pool, pooled_mass
from .design import Design, chi_square_detectable, chi_square_draws
from .evidence import Evidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TEST = "chi_square.goodness_of_fit"
SMALL = 1e-4
STRICT_FLOOR = 100.0
"""Expected draws a cell needs below `SMALL`."""
USUAL_FLOOR = 5.0
"""Expected draws a cell needs above it (Cochran 1954)."""
STRICT_FACTOR = 2.0
"""What a p-value is multiplied by under the strict floor: the approximation is trusted with half the share."""


def expected_floor(false_alarm: float) -> float:
    """How many draws each cell must expect for the chi-square tail to be believed at this rate."""
    return STRICT_FLOOR if false_alarm < SMALL else USUAL_FLOOR


def goodness_of_fit(counts: ArrayLike, probs: ArrayLike, *, hypothesis: str, floor: float) -> Evidence:
    """Evidence on "these draws follow `probs`", thin cells merged (see `counts.pool`).

    counts, probs: shape (cells,). With a `floor` of `STRICT_FLOOR` or more the p-value is doubled, at most 1. A single
    cell left agrees with everything (p = 1): its design detects nothing, so it cannot pass.
    """
    n = int(checked_counts(counts).sum())
    pooled = pool(counts, probs, floor=floor)
    expected = n * pooled.probs
    statistic = float(((pooled.counts - expected) ** 2 / expected).sum()) if n else math.nan
    tail = float(chi2.sf(statistic, pooled.probs.size - 1)) if pooled.probs.size > 1 else 1.0
    factor = STRICT_FACTOR if floor >= STRICT_FLOOR else 1.0
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=n,
        statistic=statistic,
        p_value=min(1.0, factor * tail) if n else math.nan,
        details={
            "cells": float(pooled.probs.size),
            "pooled_mass": pooled_mass(probs, n, floor=floor),
            "total_variation": float(np.abs(pooled.counts / n - pooled.probs).sum() / 2) if n else math.nan,
        },
    )


def draws(probs: ArrayLike, *, effect: float, false_alarm: float, miss: float) -> int:
    """Draws after which `design` finds a distance of `effect` from `probs`, however many cells are merged."""
    cells = int(np.count_nonzero(checked_law(probs)))
    return chi_square_draws(effect, cells, false_alarm=_held_to(false_alarm), miss=miss)


def design(n: int, probs: ArrayLike, *, false_alarm: float, miss: float) -> Design:
    """What `n` draws show about `probs` at the floor that `false_alarm` asks for, the doubled p-value included.

    The distance is that between the laws after merging. Counted in all cells, one of `detectable +
    pooled_mass` is found at these rates; a fault that only moves mass inside the merged cell never is.
    """
    cells = cells_after_pooling(probs, n, floor=expected_floor(false_alarm))
    held_to = _held_to(false_alarm)
    return Design(
        test=TEST,
        n=n,
        false_alarm=false_alarm,
        miss=miss,
        detectable=chi_square_detectable(n, cells, false_alarm=held_to, miss=miss),
        effect_unit="total variation after merging",
    )


def _held_to(false_alarm: float) -> float:
    """The level of the chi-square tail at which a p-value, doubled or not, comes down to `false_alarm`."""
    return false_alarm / STRICT_FACTOR if expected_floor(false_alarm) >= STRICT_FLOOR else false_alarm
