"""How much faster, from paired times. Knows nothing of clocks, tokens or servers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Baseline time over candidate time: above 1 the candidate is faster.

    ratio
        Geometric mean of the per-prompt ratios: the typical prompt.
    low, high
        Its bootstrap interval over prompts; 0 and inf from a single prompt, which says nothing about others.
    ratio_of_totals
        All baseline time over all candidate time: the whole load, in which long prompts weigh more.
    pairs
        Prompts measured in both arms.
    """

    ratio: float
    low: float
    high: float
    ratio_of_totals: float
    pairs: int


def paired_ratio(
    baseline_seconds: ArrayLike,
    candidate_seconds: ArrayLike,
    *,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Ratio:
    """The speedup of the candidate, prompt against the same prompt, with an interval for other prompts like these.

    Both of shape (prompts,) or (prompts, repeats). Repeats of one prompt are averaged in log first: they tell about the
    clock, not about prompts, and must not pose as more prompts. The interval is the expanded percentile bootstrap
    (Hesterberg 2015, The American Statistician 69): it is the same in log and in ratio, needs no estimate of
    skewness, which few prompts cannot give and which BCa takes from them, and its wider tail probability makes up for
    the plain percentile interval's being short with few prompts.
    """
    baseline, candidate = _checked(baseline_seconds), _checked(candidate_seconds)
    if baseline.shape != candidate.shape:
        raise ValueError(f"times must come in pairs; baseline has shape {baseline.shape}, candidate {candidate.shape}")
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence {confidence} must lie strictly between 0 and 1 and resamples {resamples} above 0")
    logs = (np.log(baseline) - np.log(candidate)).reshape(len(baseline), -1).mean(axis=1)
    low, high = _interval(logs, confidence, resamples, rng) if logs.size > 1 else (-math.inf, math.inf)
    return Ratio(
        ratio=math.exp(logs.mean()),
        low=math.exp(low),
        high=math.exp(high),
        ratio_of_totals=float(baseline.sum() / candidate.sum()),
        pairs=logs.size,
    )


def _interval(
    logs: NDArray[np.float64], confidence: float, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The two ends of the expanded percentile interval for the mean of `logs`."""
    n = logs.size
    means = logs[rng.integers(n, size=(resamples, n))].mean(axis=1)
    tail = float(norm.cdf(math.sqrt(n / (n - 1)) * student.ppf((1 - confidence) / 2, n - 1)))
    return np.asarray(np.quantile(means, [tail, 1 - tail]), dtype=np.float64)


def _checked(seconds: ArrayLike) -> NDArray[np.float64]:
    times = np.asarray(seconds, dtype=np.float64)
    if times.ndim not in (1, 2) or times.size == 0:
        raise ValueError(f"times must have shape (prompts,) or (prompts, repeats), not {times.shape}")
    if not (np.isfinite(times) & (times > 0)).all():
        raise ValueError("times must be positive, finite seconds; leave a request without a time out of both arms")
    return times
