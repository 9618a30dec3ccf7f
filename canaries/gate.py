"""The verdict: findings in, PASS, HOLD or LOSSY out.

A cell passes when every required check was made and passed, and nothing at all failed. Whatever is missing, unknown or
undecided holds the result: there is no way to PASS but evidence. Knows no statistics, no files and no engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .contracts import Finding, Reason, Status, Verdict
from .reasons import CULPRITS, REASONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

LOSSLESS = frozenset({"SAME_TOKENS", "SAME_LAW"})
WORST_FIRST = (Verdict.HOLD, Verdict.LOSSY, Verdict.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBecause:
    """One reason for a HOLD, with the check and cell it comes from and what reproduces it."""

    reason: Reason
    check: str
    cell: str
    summary: str
    reproduce: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellVerdict:
    """What may be done with the figure of one cell, and why not more."""

    cell: str
    verdict: Verdict
    reasons: tuple[HeldBecause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict:
    """What may be done with the run's figure: the verdict of its worst cell."""

    verdict: Verdict
    reasons: tuple[HeldBecause, ...]
    cells: tuple[CellVerdict, ...]


def cell_verdict(
    cell: str, findings: Iterable[Finding], required: Collection[str], claim: float | None = None
) -> CellVerdict:
    """PASS iff each required check passed here each time it was made, nothing here FAILs, and the claim is met."""
    here = [finding for finding in findings if finding.cell == cell]
    missing = sorted(set(required) - {finding.check for finding in here})
    held = [_held(finding) for finding in here if _holds(finding, required)]
    held += [_incomplete(cell, check, "required, but not made") for check in missing]
    if not required:
        held.append(_incomplete(cell, "", "no check was required here, so nothing can pass"))
    if claim is not None:
        held += [_unsupported(finding, claim) for finding in here if _speaks_against(finding, claim)]
    return CellVerdict(cell=cell, verdict=Verdict.HOLD if held else Verdict.PASS, reasons=_ordered(held))


def run_verdict(cells: Sequence[CellVerdict]) -> RunVerdict:
    """The worst cell's verdict, with the reasons of all; no cells at all is HOLD."""
    if not cells:
        nothing = (_incomplete("", "", "no cell was judged"),)
        return RunVerdict(verdict=Verdict.HOLD, reasons=nothing, cells=())
    worst = min((cell.verdict for cell in cells), key=WORST_FIRST.index)
    reasons = _ordered([reason for cell in cells for reason in cell.reasons])
    return RunVerdict(verdict=worst, reasons=reasons, cells=tuple(cells))


def judge(
    cells: Sequence[str],
    findings: Sequence[Finding],
    required: Mapping[str, Collection[str]],
    *,
    guarantee: str,
    claim: float | None = None,
) -> RunVerdict:
    """The verdict on a whole run. A finding in a cell nobody announced is judged too, and holds the run.

    A candidate that promises less than the target's own law is LOSSY, whatever it passes. A claim must be supported in
    every cell that measured speed, and in at least one.
    """
    announced = dict.fromkeys([*cells, *(finding.cell for finding in findings)])
    judged = [cell_verdict(cell, findings, required.get(cell, ()), claim) for cell in announced]
    if judged and claim is not None and not any(finding.check == "speed" for finding in findings):
        unmeasured = _incomplete(judged[0].cell, "speed", f"a speed of {claim}x is claimed, but none was measured")
        judged[0] = CellVerdict(
            cell=judged[0].cell, verdict=Verdict.HOLD, reasons=_ordered([*judged[0].reasons, unmeasured])
        )
    if judged and guarantee not in LOSSLESS:
        judged = [replace(cell, verdict=Verdict.LOSSY) for cell in judged]
    return run_verdict(judged)


def _holds(finding: Finding, required: Collection[str]) -> bool:
    return finding.status == Status.FAIL or (finding.check in required and finding.status != Status.PASS)


def _held(finding: Finding) -> HeldBecause:
    if finding.status == Status.FAIL:
        reason = finding.reason or Reason.CORRECTNESS
    elif finding.status == Status.NOT_EXERCISED:
        reason = Reason.NOT_EXERCISED
    elif finding.status == Status.INCONCLUSIVE:
        reason = finding.reason or Reason.INCOMPLETE
    else:
        reason = Reason.INCOMPLETE
    return _because(finding, reason, finding.summary)


def _speaks_against(finding: Finding, claim: float) -> bool:
    return finding.check == "speed" and not (_low(finding) >= claim)


def _unsupported(finding: Finding, claim: float) -> HeldBecause:
    low = _low(finding)
    if math.isnan(low):
        return _because(finding, Reason.INCOMPLETE, f"a speed of {claim}x is claimed, but no interval was measured")
    return _because(finding, Reason.SPEED_UNSUPPORTED, f"claimed {claim}x, but the interval begins at {low:.3f}x")


def _low(finding: Finding) -> float:
    """The lower end of the speed interval; NaN where there is none."""
    low = finding.figures.get("low")
    return float(low) if isinstance(low, (int, float)) and math.isfinite(low) else math.nan


def _because(finding: Finding, reason: Reason, summary: str) -> HeldBecause:
    return HeldBecause(
        reason=reason, check=finding.check, cell=finding.cell, summary=summary, reproduce=finding.reproduce
    )


def _incomplete(cell: str, check: str, summary: str) -> HeldBecause:
    return HeldBecause(reason=Reason.INCOMPLETE, check=check, cell=cell, summary=summary)


def _ordered(held: Sequence[HeldBecause]) -> tuple[HeldBecause, ...]:
    return tuple(sorted(held, key=lambda because: CULPRITS.index(REASONS[because.reason].culprit)))
