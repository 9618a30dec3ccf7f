"""Is more accepted than any lossless rule can accept? A bound for every rule, declared or not; chains only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....stats.bounds import accepted_bound
from ....stats.design import Design
from ....stats.evidence import Evidence
from ...contracts import Reason
from ..laws import Bundle
from .base import Look, Rates, Test

TEST = "bounds.accepted"


@dataclass(frozen=True, slots=True)
class BoundTest:
    """Hoeffding's inequality for the mean number of accepted tokens, which lies in [0, K], against the bound."""

    bundle: str
    cell: str
    index: int
    most: float
    draft_length: int
    check: str = "bound"
    reason: Reason = Reason.METRICS

    def rounds(self, rates: Rates) -> int:
        """Enough to see an excess of `effect` tokens for each drafted one."""
        root = math.sqrt(math.log(1 / rates.false_alarm) / 2) + math.sqrt(math.log(1 / rates.miss) / 2)
        return math.ceil((root / rates.effect) ** 2)

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest excess seen, as a share of K."""
        radii = (math.sqrt(math.log(1 / rate) / (2 * n)) if n else math.inf for rate in (rates.false_alarm, rates.miss))
        return Design(
            test=TEST,
            n=n,
            false_alarm=rates.false_alarm,
            miss=rates.miss,
            detectable=sum(radii),
            effect_unit="accepted tokens a drafted one",
        )

    def evidence(self, look: Look, _: Rates) -> Evidence:
        """`p = exp(-2 n d**2)` for an excess d, as a share of K (Hoeffding 1963); 1 where there is none."""
        counts = look.seen.emitted[self.index]
        n = int(counts.sum())
        mean = float((counts * (np.arange(len(counts)) - 1)).sum() / n) if n else math.nan
        excess = max(0.0, (mean - self.most) / self.draft_length)
        return Evidence(
            test=TEST,
            hypothesis=f"at most {self.most:.3f} draft tokens a round are accepted, as in any lossless rule",
            n=n,
            statistic=mean,
            p_value=min(1.0, math.exp(-2 * n * excess**2)) if n else math.nan,
            details={"bound": self.most, "accepted": mean},
        )


def planned(bundle: Bundle) -> list[Test]:
    """One test a problem whose laws remember the whole history, as the bound's tables do."""
    if bundle.memory != bundle.vocabulary or not bundle.draft_length:
        return []
    found: list[Test] = []
    for index, problem in enumerate(bundle.problems):
        shape = [(bundle.vocabulary,) * (i + 1) for i in range(bundle.draft_length)]
        target = [x.reshape(s) for x, s in zip(problem.target, shape, strict=False)]
        draft = [x.reshape(s) for x, s in zip(problem.draft, shape, strict=True)]
        most = float(accepted_bound(target, draft))
        found.append(BoundTest(bundle.name, f"{bundle.name}/{problem.name}", index, most, bundle.draft_length))
    return found
