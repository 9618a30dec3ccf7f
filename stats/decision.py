"""The one place where evidence meets error rates."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .design import Design
    from .evidence import Evidence


class Decision(StrEnum):
    """What one test found."""

    PASS = "PASS"  # noqa: S105 (a finding, no password)
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


def decide(evidence: Evidence, design: Design, *, effect: float) -> Decision:
    """The finding that `evidence` supports under `design`, where a fault of size `effect` must not be missed.

    FAIL: `p_value <= false_alarm`, however few draws were made. PASS: not that, all designed draws were made, and a
    fault of size `effect` would have shown. Otherwise, and for a NaN anywhere or no draws at all: INCONCLUSIVE.
    """
    numbers = (evidence.statistic, evidence.p_value, design.false_alarm, design.miss, design.detectable, effect)
    if evidence.n == 0 or any(math.isnan(number) for number in numbers):
        return Decision.INCONCLUSIVE
    if evidence.p_value <= design.false_alarm:
        return Decision.FAIL
    if evidence.n >= design.n and design.detectable <= effect:
        return Decision.PASS
    return Decision.INCONCLUSIVE
