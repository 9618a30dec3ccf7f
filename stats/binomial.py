"""A success rate against a known one, exactly; and what a count says about an unknown rate."""

from __future__ import annotations

import math

from scipy.stats import beta, binom

from .design import Design, binomial_detectable
from .evidence import Evidence

TEST = "binomial.known_rate"


def known_rate(successes: int, n: int, *, rate: float, hypothesis: str) -> Evidence:
    """Evidence on "each of `n` independent draws succeeds with chance `rate`".

    Exact and two-sided: twice the smaller tail, at most 1. Twice, not "all counts less likely": then each side keeps
    half the rate and the counts that reject are two plain ends, which is what `binomial_detectable` plans with.
    """
    _check_count(successes, n)
    if not 0 <= rate <= 1:
        raise ValueError(f"a rate of {rate} is no probability")
    tail = min(float(binom.cdf(successes, n, rate)), float(binom.sf(successes - 1, n, rate)))
    return Evidence(
        test=TEST,
        hypothesis=hypothesis,
        n=n,
        statistic=float(successes),
        p_value=min(1.0, 2 * tail) if n else math.nan,
        details={"rate": rate, "observed_rate": successes / n if n else math.nan},
    )


def design(n: int, *, rate: float, false_alarm: float, miss: float) -> Design:
    """What `n` draws show about `rate`: the smallest shift, up or down."""
    return Design(
        test=TEST,
        n=n,
        false_alarm=false_alarm,
        miss=miss,
        detectable=binomial_detectable(n, rate, false_alarm=false_alarm, miss=miss),
        effect_unit="rate",
    )


def upper_limit(k: int, n: int, *, miss: float) -> float:
    """A rate that the true one exceeds with chance at most `miss`, after `k` of `n` (Clopper and Pearson 1934).

    `upper_limit(0, n, miss=miss)` is `1 - miss**(1/n)`, about `3 / n` at 5%.
    """
    _check_count(k, n)
    return float(beta.isf(miss, k + 1, n - k)) if k < n else 1.0


def lower_limit(k: int, n: int, *, miss: float) -> float:
    """A rate that the true one falls below with chance at most `miss`, after `k` of `n` (Clopper and Pearson 1934)."""
    _check_count(k, n)
    return float(beta.ppf(miss, k, n - k + 1)) if k else 0.0


def _check_count(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"{k} successes in {n} draws cannot be")
