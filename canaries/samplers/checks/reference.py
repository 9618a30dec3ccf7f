"""Does a sampler give the very tokens of a reference that uses chance in the same way? Finds biases too small to count.

Rows that float rounding explains are allowed for at a stated rate; beyond it the two differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.stats import beta, binom

from ....stats.design import Design
from ....stats.evidence import Evidence
from ...contracts import Reason
from .base import Look, Rates

TEST = "reference.same_seed"


@dataclass(frozen=True, slots=True)
class ReferenceTest:
    """`differing` of `rows` rows were not those of the reference; `rate` of them may be."""

    rows: int
    differing: int
    rate: float
    bundle: str = "reference"
    cell: str = "reference"
    check: str = "reference"
    reason: Reason = Reason.CORRECTNESS

    def rounds(self, _: Rates) -> int:
        """As many as were asked for."""
        return self.rows

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest rate of differing rows that is found (Clopper and Pearson)."""
        most = int(binom.isf(rates.false_alarm, n, self.rate)) if n else 0
        detectable = float(beta.isf(rates.miss, most + 1, n - most)) if n > most else math.inf
        return Design(
            test=TEST,
            n=n,
            false_alarm=rates.false_alarm,
            miss=rates.miss,
            detectable=detectable,
            effect_unit="rate of differing rows",
        )

    def evidence(self, _: Look | None, __: Rates) -> Evidence:
        """The chance of so many differing rows at the allowed rate."""
        return Evidence(
            test=TEST,
            hypothesis="the same seed gives the reference's tokens",
            n=self.rows,
            statistic=float(self.differing),
            p_value=float(binom.sf(self.differing - 1, self.rows, self.rate)) if self.rows else math.nan,
        )
