"""What changes when a knob is turned: at T = 0, nothing may. Shared by the checks of draft lengths and of drafters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...engine.request import Generation
from ..contracts import Finding, Reason, Status
from ..observations.answers import fork
from .base import Case, Certain, not_observed
from .forking import explained, tolerance


class Variants(Certain):
    """Each variant's greedy answers are the plain ones, near ties aside."""

    def __init__(self, name: str, observation: str, wanted: Callable[[Case], list[str]]) -> None:
        self.name = name
        self.observes = (observation, "replays")
        self._observation = observation
        self._wanted = wanted

    def judge(self, case: Case) -> Finding:
        """FAIL for one variant that changes a confident token; PASS needs every variant of the suite."""
        observed = case.observed(self._observation)
        if not observed or set(self._wanted(case)) - set(observed["variants"]) or not observed["plain"]:
            return not_observed(self.name, case)
        plain = {g["name"]: tuple(g["tokens"]) for g in observed["plain"]}
        limit = tolerance(case)
        bad = {
            label: names
            for label, variant in observed["variants"].items()
            if (names := _unexplained(plain, variant, limit))
        }
        tokens = sum(len(g["tokens"]) for v in observed["variants"].values() for g in v["generations"])
        labels = ", ".join(observed["variants"])
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if bad else Status.PASS,
            reason=Reason.CORRECTNESS if bad else None,
            summary=f"answers change with {', '.join(bad)}" if bad else f"{tokens} tokens equal under {labels}",
            reproduce=tuple(dict.fromkeys(f"{label}:{name}" for label, names in bad.items() for name in names)),
            figures={"tokens": tokens, "variants": len(observed["variants"])},
        )


def _unexplained(plain: Mapping[str, tuple[int, ...]], variant: Mapping[str, Any], limit: float) -> list[str]:
    names = []
    for generation in map(Generation.from_json, variant["generations"]):
        wanted = plain[generation.name]
        found = fork(generation.name, "", wanted, generation.tokens)
        if found and not explained(found, wanted, variant["replays"][generation.name], limit):
            names.append(generation.name)
    return names if variant["generations"] else ["no answers"]


def knob_labels(case: Case) -> list[str]:
    """The draft lengths that the suite names."""
    return [f"k={k}" for k in case.suite.knobs.draft_lengths]


def synthetic_labels(case: Case) -> list[str]:
    """The drafters that the suite names."""
    return list(case.suite.synthetic.drafters)
