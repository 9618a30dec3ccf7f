"""For a declared rule only: do rounds end where that rule ends them? The law of whole rounds as they came.

That one law holds the accepted lengths, the last token given where the rejection fell, and the acceptance sum(min(p,
q)). For an undeclared rule nothing here is judged: fewer tokens a round is no fault of the law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....stats import chi_square
from ....stats.design import Design
from ....stats.evidence import Evidence
from ...contracts import Reason
from ..laws import Bundle, Floats
from ..rules import RULES, Shape, rounds_law
from ..trial import few_outcomes
from .base import Look, Rates, Test, chi_square_rounds


@dataclass(frozen=True, slots=True)
class RuleTest:
    """Chi-square of raw rounds: their tokens and where they end."""

    bundle: str
    cell: str
    index: int
    law: Floats
    check: str = "rule"
    reason: Reason = Reason.METRICS

    def rounds(self, rates: Rates) -> int:
        """Enough for the effect over all rounds that can come."""
        return chi_square_rounds(self.law, rates)

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest distance seen, once thin cells are merged."""
        return chi_square.design(n, self.law, false_alarm=rates.false_alarm, miss=rates.miss)

    def evidence(self, look: Look, rates: Rates) -> Evidence:
        """A round that the rule cannot give is proof."""
        assert look.seen.raw is not None
        counts, floor = look.seen.raw[self.index], chi_square.expected_floor(rates.false_alarm)
        text = "rounds end where the declared rule ends them"
        outside = int(counts[self.law == 0].sum())
        if outside:
            n = int(counts.sum())
            return Evidence(test=chi_square.TEST, hypothesis=text, n=n, statistic=float(outside), p_value=0.0)
        return chi_square.goodness_of_fit(counts, self.law, hypothesis=text, floor=floor)


def planned(bundle: Bundle, rule: str, shape: Shape) -> list[Test]:
    """One test a problem where outcomes are few and `rule` is a known one."""
    if rule not in RULES or not few_outcomes(bundle):
        return []
    laws = [rounds_law(problem, rule, shape) for problem in bundle.problems]
    return [
        RuleTest(bundle.name, f"{bundle.name}/{problem.name}", index, law)
        for index, (problem, law) in enumerate(zip(bundle.problems, laws, strict=True))
        if np.count_nonzero(law) > 1
    ]
