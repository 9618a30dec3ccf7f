"""Is the law wrong for all to see? Looked at while drawing; it can end a run early and never passes anything."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....stats import e_process
from ....stats.evidence import Evidence
from ...contracts import Finding, Reason, Status
from ..laws import Bundle
from ..trial import Seen
from .law import LawTest, SupportTest, planned

CHECK = "wager"


class Wager:
    """A running e-process for each of the cells that the law tests of a bundle count."""

    def __init__(self, bundle: Bundle, weights: Sequence[float]) -> None:
        self.tests = [test for test in planned(bundle) if isinstance(test, LawTest)]
        self._support = [test for test in planned(bundle) if isinstance(test, SupportTest)]
        self._proof: tuple[SupportTest, Evidence] | None = None
        self._weights = weights
        self._best = [0.0] * len(self.tests)
        self._n = [0] * len(self.tests)

    def look(self, seen: Seen) -> None:
        """The largest wealth so far stands, and so does a forbidden token, which is proof."""
        for support in self._support:
            if (outside := support.outside(seen)).statistic and not self._proof:
                self._proof = support, outside
        for i, test in enumerate(self.tests):
            counts = test.counts(seen)
            self._n[i] = int(counts.sum())
            self._best[i] = max(self._best[i], e_process.log_wealth(counts, test.law, weights=self._weights))

    def worst(self) -> tuple[LawTest, Evidence]:
        """The cell with the most wealth, and its evidence."""
        i = max(range(len(self.tests)), key=self._best.__getitem__)
        text = "emitted tokens follow the target's law"
        return self.tests[i], e_process.evidence(self._best[i], self._n[i], hypothesis=text)

    def finding(self, share: float) -> Finding | None:
        """A failure once a wealth reaches its part of `share`, or a token was forbidden; nothing before that."""
        if self._proof:
            return _failed("support", self._proof[0].cell, self._proof[1])
        if not self.tests:
            return None
        test, evidence = self.worst()
        if evidence.p_value > share / len(self.tests) or math.isnan(evidence.p_value):
            return None
        return _failed(CHECK, test.cell, evidence)


def _failed(check: str, cell: str, evidence: Evidence) -> Finding:
    return Finding(
        check=check,
        cell=cell,
        status=Status.FAIL,
        reason=Reason.DISTRIBUTION,
        summary=f"not true: {evidence.hypothesis} (p = {evidence.p_value:.1e}, stopped after {evidence.n:,} draws)",
        evidence=(evidence.to_json(),),
    )
