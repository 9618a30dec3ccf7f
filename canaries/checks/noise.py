"""Is the baseline steady enough to be a yardstick? Plain against plain: other widths, other batches, again."""

from __future__ import annotations

import math

from ..contracts import Finding, Reason, Status
from ..observations.answers import by_arm
from .base import Case, Certain, not_observed
from .forking import noise_of


class Noise(Certain):
    """Plain decoding agrees with itself within the suite's tolerance."""

    name = "noise"
    observes = ("pairs", "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL, on the baseline's account, when its own logits or its own repeats differ too much."""
        noise = noise_of(case)
        if math.isnan(noise):
            return not_observed(self.name, case)
        most = case.suite.noise.unstable_above
        changed = _changed(case) if case.cell.greedy else []
        steady = noise <= most and not changed
        summary = f"plain against plain: {noise:.1e} logits at most"
        if changed:
            summary += f"; its own repeat differs on {len(changed)} canaries"
        elif not steady:
            summary += f", the suite allows {most}"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.PASS if steady else Status.FAIL,
            reason=None if steady else Reason.BASELINE_UNSTABLE,
            summary=summary,
            reproduce=tuple(changed),
            figures={"noise_logits": noise} | case.observed("replays")["noise"]["logits"],
        )


def _changed(case: Case) -> list[str]:
    """Canaries to which the baseline gave different greedy answers in its repeats."""
    answers = by_arm(case.observed("pairs"), "baseline")
    first = {a.canary: a.generation.tokens for a in answers if a.repeat == 0}
    return sorted({a.canary for a in answers if a.generation.tokens != first[a.canary]})
