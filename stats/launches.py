"""The spread between launches: what a speed ratio owes to how two servers happened to start. Knows nothing of clocks.

Placement of memory, clocks and caches differ from start to start and stay for as long as a process lives, so that more
prompts say nothing about them (Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, ISMM).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from .speed import Ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def across_launches(ratio: Ratio, logs: ArrayLike, *, confidence: float) -> Ratio:
    """The same ratio, with an interval for other launches too; `logs` is the mean log ratio of each launch pair.

    A prompt's log ratio is mu + prompt + launch pair, all independent. With n prompts dealt evenly to J pairs, the mean
    L_j of pair j is mu plus noise of variance sigma_launch ** 2 + J * sigma_prompt ** 2 / n, the same in each: the L_j
    are J observations of mu, and mean(L) +- t(J - 1) * std(L, ddof=1) / sqrt(J) covers it (Student 1908). That is added
    in quadrature, on the log scale, to each side of the interval that prompts alone gave. It covers what it says or
    more: no wider than needed where launches agree, and never narrower than what prompts gave where few launches agree
    by chance. With J = 2 and 95 %, t is 12.7: launches that differ by 1 % leave 6 % on either side.

    Raises ValueError for fewer than two pairs: one says nothing about others.
    """
    means = np.asarray(logs, dtype=np.float64)
    if means.ndim != 1 or means.size <= 1 or not np.isfinite(means).all():
        raise ValueError(f"the mean log ratios of two launch pairs or more are needed, finite, not {logs!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} must lie strictly between 0 and 1")
    error = float(means.std(ddof=1)) / math.sqrt(means.size)
    launches = float(student.ppf((1 + confidence) / 2, means.size - 1)) * error
    with np.errstate(divide="ignore", over="ignore"):
        middle, low, high = np.log([ratio.ratio, ratio.low, ratio.high])
        ends = np.exp([middle - np.hypot(middle - low, launches), middle + np.hypot(high - middle, launches)])
    return replace(ratio, low=float(ends[0]), high=float(ends[1]))
