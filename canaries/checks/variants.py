"""What changes when a knob is turned: at T = 0, nothing may. Shared by the checks of draft lengths and of drafters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.request import Generation
from ..contracts import Finding, Reason, Status
from ..observations.answers import fork
from .base import Case, Certain
from .forking import explained, tolerance


class Variants(Certain):
    """Each variant's greedy answers are the plain ones, near ties aside."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.observes = (name, "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL for one variant that changes a confident token; PASS needs every variant to have drafted."""
        observed = case.observed(self.name)
        plain = {g["name"]: tuple(g["tokens"]) for g in observed["plain"]}
        limit = tolerance(case)
        bad = {
            label: names
            for label, variant in observed["variants"].items()
            if (names := _unexplained(plain, variant, limit))
        }
        idle = idle_variants(observed["variants"])
        tokens = sum(len(g["tokens"]) for v in observed["variants"].values() for g in v["generations"])
        labels = ", ".join(observed["variants"])
        forks = sum(len(variant["replays"]) for variant in observed["variants"].values())
        told = f" but for {forks} fork{'s' * (forks > 1)} that noise explains" if forks else ""
        summary = f"{tokens} tokens equal{told} under {labels}"
        if bad:
            summary = f"answers change with {', '.join(bad)}"
        elif idle:
            summary = f"nothing was drafted under {', '.join(idle)}"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if bad else Status.NOT_EXERCISED if idle else Status.PASS,
            reason=Reason.CORRECTNESS if bad else Reason.NOT_EXERCISED if idle else None,
            summary=summary,
            reproduce=tuple(dict.fromkeys(f"{label}:{name}" for label, names in bad.items() for name in names)),
            figures={"tokens": tokens, "variants": len(observed["variants"]), "forks": forks},
        )


def idle_variants(variants: Mapping[str, Any]) -> list[str]:
    """Variants that never drafted a token: equal answers then say nothing about speculation."""
    generations = {label: map(Generation.from_json, variant["generations"]) for label, variant in variants.items()}
    return [label for label, listed in generations.items() if not any(r.drafted for g in listed for r in g.rounds)]


def _unexplained(plain: Mapping[str, tuple[int, ...]], variant: Mapping[str, Any], limit: float) -> list[str]:
    names = []
    for generation in map(Generation.from_json, variant["generations"]):
        wanted = plain[generation.name]
        found = fork(generation.name, "", wanted, generation.tokens)
        if found and not explained(found, wanted, variant["replays"][generation.name], limit):
            names.append(generation.name)
    return names
