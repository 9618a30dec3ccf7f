"""Does an answer have another one's chance? Answers asked for at once, and call after call, held against one another.

Of two answers to one prompt, the second equals the first with the first one's own mass: a count of such pairs has a law
that is known exactly, however the two were chosen, as long as no answer is in two pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...stats import binomial, poisson_binomial
from ...stats.design import Design
from ...stats.evidence import Evidence
from ..observations.pairs import BASELINE, CANDIDATE
from .drawn import Drawn

EVEN = 0.5  # an answer likelier than this comes again anyway


def shared(drawn: Sequence[Drawn], *, false_alarm: float, miss: float) -> tuple[Evidence, Design]:
    """Evidence on "no answer repeats one some rows beside it, or the one in its place a call before", and its design.

    An answer's mass is at most what plain decoding's counts allow: half of `false_alarm` goes to these limits, the
    other half to the strangest distance, times those that are looked at. Both are those of the whole question.
    """
    calls, rows = drawn[0].drawn[CANDIDATE].shape
    limits = [_limits(one, false_alarm / 2 / (len(drawn) * calls * rows)) for one in drawn]
    looks = {f"{row} row{'s' * (row > 1)} apart": (0, row) for row in range(1, rows)} | {"1 call apart": (1, 0)}
    found, rates = [], []
    for words, (on, beside) in looks.items():
        pairs = [
            (float(limit[x]), x == y)
            for one, limit in zip(drawn, limits, strict=True)
            for x, y in one.apart(CANDIDATE, on, beside)
            if limit[x] <= EVEN
        ]
        rates.append([rate for rate, _ in pairs])
        hypothesis = f"answers {words} have chances of their own"
        found.append(poisson_binomial.excess(sum(same for _, same in pairs), rates[-1], hypothesis=hypothesis))
    best = min(found, key=lambda one: math.inf if math.isnan(one.p_value) else one.p_value)
    fewest = min(rates, key=len)
    design = poisson_binomial.design(fewest, false_alarm=false_alarm / 2 / len(looks), miss=miss)
    return (
        replace(best, p_value=min(1.0, best.p_value * len(looks)) if best.n else math.nan),
        replace(design, false_alarm=false_alarm / 2, effect_unit="share of answers that repeat another's chance"),
    )


def _limits(one: Drawn, miss: float) -> npt.NDArray[np.float64]:
    """Masses (answers,) that plain decoding's counts allow; of `n` draws' answers, no more than `n` exceed `1 / n`.

    So there are no more chances to be wrong than draws, and `miss` is that of each.
    """
    counts = one.counts(BASELINE)
    by_count = {k: binomial.upper_limit(k, one.drawn[BASELINE].size, miss=miss) for k in set(counts.tolist())}
    return np.array([by_count[k] for k in counts.tolist()])
