"""Evidence that may be looked at after every draw: a wager against a known law that grows only if the law is wrong.

`E` is the likelihood of the draws under a mixture of other laws, over that under the known law. Under the known law its
mean is 1 at every time, and it passes `1 / a` ever with chance at most `a` (Ville 1939): stopping early costs nothing.
It can show that a law is wrong, never that it is right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, logsumexp

from .counts import checked_counts, checked_law
from .evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

TEST = "e_process.dirichlet_mixture"


def log_wealth(counts: ArrayLike, probs: ArrayLike, *, weights: Sequence[float]) -> float:
    """The logarithm of E for `counts` against `probs`, both (cells,): E is its mean over Dirichlet priors `c * probs`.

    `log E_c = lgamma(c) - lgamma(c + n) + sum(lgamma(c p + m) - lgamma(c p)) - sum(m log p)` over cells with m > 0. A
    small weight c bets on large faults, a large one on small faults; one alone can cost three times the draws. Infinite
    after a draw that `probs` rules out, 0 before any draw.
    """
    observed, law = checked_counts(counts), checked_law(probs)
    seen = observed > 0
    m, p, n = observed[seen], law[seen], int(observed.sum())
    if (p == 0).any():
        return math.inf
    against = float((m * np.log(p)).sum())
    return float(logsumexp([_log_likelihood(m, p, n, c) for c in weights])) - math.log(len(weights)) - against


def evidence(log_e: float, n: int, *, hypothesis: str) -> Evidence:
    """The largest `log_e` that `n` draws have reached, as evidence: `p = min(1, 1 / E)`, valid whenever one looks."""
    return Evidence(
        test=TEST, hypothesis=hypothesis, n=n, statistic=log_e, p_value=min(1.0, math.exp(-log_e)) if n else math.nan
    )


def _log_likelihood(m: NDArray[Any], p: NDArray[Any], n: int, c: float) -> float:
    return float(gammaln(c) - gammaln(c + n) + (gammaln(c * p + m) - gammaln(c * p)).sum())
