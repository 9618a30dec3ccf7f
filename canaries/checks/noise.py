"""Is the baseline steady enough to be a yardstick? Plain against plain: other widths, other batches, again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..contracts import Finding, Reason, Status
from ..observations.answers import by_arm
from .base import Case, Certain, not_observed
from .forking import noise_of, tolerance


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
        astray = _astray(case) if case.cell.greedy else []
        steady = noise <= most and not changed and not astray
        moved = drift(case)
        summary = f"plain against plain: {noise:.1e} logits at most"
        if changed:
            summary += f"; its own repeat differs on {len(changed)} canaries"
        elif astray:
            summary += f"; teacher-forced, it would not have chosen its own tokens on {len(astray)} canaries"
        elif not steady:
            summary += f", the suite allows {most}"
        if moved is not None and moved > noise:
            summary += f"; margins moved by {moved:.1e} since the suite was frozen"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.PASS if steady else Status.FAIL,
            reason=None if steady else Reason.BASELINE_UNSTABLE,
            summary=summary,
            reproduce=tuple(changed or astray),
            figures={"noise_logits": noise, "drift_logits": moved} | case.observed("replays")["noise"]["logits"],
        )


def _changed(case: Case) -> list[str]:
    """Canaries to which the baseline gave different greedy answers in its repeats."""
    answers = by_arm(case.observed("pairs"), "baseline")
    first = {a.canary: a.generation.tokens for a in answers if a.repeat == 0}
    return sorted({a.canary for a in answers if a.generation.tokens != first[a.canary]})


def _astray(case: Case) -> list[str]:
    """Canaries in whose greedy answer the baseline chose a token farther below its best than its noise explains."""
    limit = tolerance(case)
    return sorted(
        canary
        for canary, replay in _census(case)
        if any(margin is None or margin > limit for margin in replay["margin"])
    )


def drift(case: Case) -> float | None:
    """How far a canary's smallest gap is from that of the suite's census, at most; None where they say nothing.

    Another model, another precision and another limit have other gaps. A drift is told and not judged: the arms are
    held against each other on this machine, not against the one that the suite was frozen on.
    """
    census = case.suite.census
    if census is None or not case.cell.greedy or case.cell.tokens != census.tokens:
        return None
    model = case.header["baseline"].get("model", {})
    if (model.get("weights_sha256"), model.get("dtype")) != (census.weights_sha256, census.dtype):
        return None
    return max((abs(min(replay["gap"]) - census.gaps[canary]) for canary, replay in _census(case)), default=None)


def _census(case: Case) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each canary of a greedy cell, with the baseline's replay of its own first answer."""
    asked = [a.canary for a in by_arm(case.observed("pairs"), "baseline") if a.repeat == 0]
    return zip(asked, case.observed("replays")["census"], strict=True)
