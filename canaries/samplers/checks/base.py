"""What every designed test of a sampler has in common: planned before data, judged after it, one finding each."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ....stats import chi_square, kolmogorov_smirnov
from ....stats.decision import Decision, decide
from ....stats.design import Design, ks_draws
from ....stats.evidence import Evidence
from ...contracts import Finding, Reason, Status
from ..drafting import Paired
from ..laws import Floats
from ..trial import Seen


class Rates(NamedTuple):
    """A test's share of the run's false-alarm rate, its miss rate, and the effect that it must not miss."""

    false_alarm: float
    miss: float
    effect: float


class Look(NamedTuple):
    """What a test may see: counts of its bundle, chance of our own for randomised transforms, a pair's own drafts."""

    seen: Seen
    chance: np.random.Generator
    drafted: Paired | None = None


class Test(Protocol):
    """One hypothesis about one problem of a bundle. Its cell names it: "small/zipf"."""

    @property
    def check(self) -> str:
        """The family of tests it belongs to."""

    @property
    def bundle(self) -> str:
        """The bundle that is drawn for it."""

    @property
    def cell(self) -> str:
        """Its problem, and position where it has one."""

    @property
    def reason(self) -> Reason:
        """Why a sampler that fails it is held."""

    def rounds(self, rates: Rates) -> int:
        """Rounds of its problem after which an effect of `rates.effect` is found."""

    def design(self, n: int, rates: Rates) -> Design:
        """What `n` draws show, before any data."""

    def evidence(self, look: Any, rates: Rates) -> Evidence:
        """What the draws say."""


class UniformNumbers:
    """Base of tests that turn tokens into numbers uniform on [0, 1): one round gives at least one."""

    __slots__ = ()

    def rounds(self, rates: Rates) -> int:
        """Numbers after which a gap of `rates.effect` in their CDF is found."""
        return ks_draws(rates.effect, false_alarm=rates.false_alarm, miss=rates.miss)

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest gap between the CDF of the numbers and the uniform one."""
        return kolmogorov_smirnov.design(n, false_alarm=rates.false_alarm, miss=rates.miss)


def chi_square_rounds(law: Floats, rates: Rates) -> int:
    """Draws after which Pearson's test on `law` finds the effect, its cells filled well enough to be counted at all."""
    n = chi_square.draws(law, effect=rates.effect, false_alarm=rates.false_alarm, miss=rates.miss)
    while chi_square.design(n, law, false_alarm=rates.false_alarm, miss=rates.miss).detectable > rates.effect:
        n += n // 8 + 1
    return n


DECIDED = {
    Decision.PASS: Status.PASS,
    Decision.FAIL: Status.FAIL,
    Decision.INCONCLUSIVE: Status.INCONCLUSIVE,
}


def judge(test: Test, look: Look | None, rates: Rates) -> Finding:
    """The finding of one test."""
    evidence = test.evidence(look, rates)
    design = test.design(evidence.n, rates)
    status = DECIDED[decide(evidence, design, effect=rates.effect)]
    return finding(test, status, evidence, design)


def finding(test: Test, status: Status, evidence: Evidence, design: Design) -> Finding:
    """A finding with its numbers in words."""
    reasons = {Status.PASS: None, Status.FAIL: test.reason}
    size = f"{design.detectable:.2g} {design.effect_unit}"
    return Finding(
        check=test.check,
        cell=test.cell,
        status=status,
        reason=reasons.get(status, Reason.INCOMPLETE),
        summary=_summary(status, evidence, design),
        evidence=(evidence.to_json(),),
        design=(design.to_json(),),
        seen=size,
    )


def _summary(status: Status, evidence: Evidence, design: Design) -> str:
    if status == Status.PASS:
        return f"{evidence.n:,} draws agree (p = {evidence.p_value:.2g})"
    if status == Status.FAIL:
        distance = evidence.details.get("total_variation")
        size = f", distance {distance:.3g}" if distance is not None else ""
        return f"not true: {evidence.hypothesis} (p = {evidence.p_value:.1e} after {evidence.n:,} draws{size})"
    return f"{evidence.n:,} draws show only effects from {design.detectable:.2g} {design.effect_unit} on"
