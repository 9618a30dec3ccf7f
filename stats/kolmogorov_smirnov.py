"""Draws from many known laws, one law each, judged together: every draw becomes one uniform number.

A discrete law is made continuous with one extra uniform V (the randomised probability integral transform): for X from
p, `F(X-) + V * p(X)` is exactly uniform. Without V a Kolmogorov-Smirnov test of discrete draws is wrong.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .design import Design, ks_detectable
from .evidence import Evidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

TEST = "kolmogorov_smirnov.uniform_ks"


def randomised_pit(probs_below: ArrayLike, prob: ArrayLike, uniforms: ArrayLike) -> NDArray[np.float64]:
    """`probs_below + uniforms * prob`: uniform on [0, 1] where the token was drawn from its law.

    All of shape (draws,). probs_below: mass of the tokens before the one drawn; prob: its own mass. "Before" is any
    order fixed by the law alone; take the likelier first. In vocabulary order the draws of a sampler at the wrong
    temperature are lifted as often as lowered, and the gap cancels out. Rounding that leaves [0, 1] is cut off.
    """
    below, mass, v = (np.asarray(array, dtype=np.float64) for array in (probs_below, prob, uniforms))
    if not below.shape == mass.shape == v.shape:
        raise ValueError(f"one law, one token, one uniform a draw; got shapes {below.shape}, {mass.shape}, {v.shape}")
    return np.clip(below + v * mass, 0.0, 1.0)


def uniform_ks(values: ArrayLike, *, hypothesis: str) -> Evidence:
    """Evidence on "these numbers are uniform on [0, 1]": `D = sup|F_n(x) - x|`, two-sided.

    `p = min(1, 2 * exp(-2 * n * D**2))`, the Dvoretzky-Kiefer-Wolfowitz bound with Massart's constant (Annals of
    Probability 18, 1990): valid at every n and every level, so it needs no approximation of the far tail. No values, or
    a NaN among them, gives a NaN.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if (ordered < 0).any() or (ordered > 1).any():
        raise ValueError(f"values must lie in [0, 1]; got {ordered[0]} to {ordered[-1]}")
    n = ordered.size
    ranks = np.arange(n)
    gap = float(max(((ranks + 1) / n - ordered).max(), (ordered - ranks / n).max())) if n else math.nan
    p_value = math.nan if math.isnan(gap) else min(1.0, 2 * math.exp(-2 * n * gap**2))
    return Evidence(test=TEST, hypothesis=hypothesis, n=n, statistic=gap, p_value=p_value)


def design(n: int, *, false_alarm: float, miss: float) -> Design:
    """What `n` draws show: the smallest gap between the CDF of the transformed draws and the uniform one."""
    return Design(
        test=TEST,
        n=n,
        false_alarm=false_alarm,
        miss=miss,
        detectable=ks_detectable(n, false_alarm=false_alarm, miss=miss),
        effect_unit="cdf gap",
    )
