"""Tokens the reference says can never come. One of them is proof."""

from __future__ import annotations

from .design import Design, rate_detectable
from .evidence import Evidence

TEST = "support.outside_support"


def outside_support(tokens_outside: int, n: int, *, hypothesis: str) -> Evidence:
    """Evidence on "no token falls outside the reference's support": p is 0 after the first one, 1 before it."""
    if not 0 <= tokens_outside <= n:
        raise ValueError(f"{tokens_outside} of {n} tokens cannot be outside the support")
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=n,
        statistic=float(tokens_outside),
        p_value=0.0 if tokens_outside else 1.0,
    )


def design(n: int, *, false_alarm: float, miss: float) -> Design:
    """What `n` tokens show: the smallest rate of forbidden tokens of which one would have been seen."""
    return Design(
        test=TEST,
        n=n,
        false_alarm=false_alarm,
        miss=miss,
        detectable=rate_detectable(n, miss=miss),
        effect_unit="rate",
    )
