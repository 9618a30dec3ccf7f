"""What changes when a knob is turned: at T = 0, nothing may. Shared by the checks of draft lengths and of drafters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.request import Generation
from ..contracts import Finding, Reason, Status
from ..observations.answers import fork, shown
from .algebra import complaint
from .base import Case, Certain
from .forking import explained, tolerance


class Variants(Certain):
    """Each variant's greedy answers are the plain ones, near ties aside, and their counts add up."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.observes = (name, "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL for one variant that changes a confident token or miscounts; PASS needs every one to have drafted."""
        observed = case.observed(self.name)
        plain = {g.name: g for g in map(Generation.from_json, observed["plain"])}
        limit = tolerance(case)
        bad = {
            label: names
            for label, variant in observed["variants"].items()
            if (names := _unexplained(plain, variant, limit))
        }
        idle = idle_variants(observed["variants"])
        wrong = self._miscounted(case)
        tokens = sum(len(g["tokens"]) for v in observed["variants"].values() for g in v["generations"])
        labels = ", ".join(observed["variants"])
        forks = sum(len(variant["replays"]) for variant in observed["variants"].values())
        told = f" but for {forks} fork{'s' * (forks > 1)} that noise explains" if forks else ""
        summary = f"{tokens} tokens equal{told} under {labels}"
        if bad:
            summary = f"answers change with {', '.join(bad)}"
        elif wrong:
            summary = wrong
        elif idle:
            summary = f"nothing was drafted under {', '.join(idle)}"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if bad or wrong else Status.NOT_EXERCISED if idle else Status.PASS,
            reason=Reason.CORRECTNESS if bad else Reason.METRICS if wrong else Reason.NOT_EXERCISED if idle else None,
            summary=summary,
            reproduce=tuple(dict.fromkeys(f"{label}:{name}" for label, names in bad.items() for name in names)),
            figures={"tokens": tokens, "variants": len(observed["variants"]), "forks": forks},
        )

    def _miscounted(self, case: Case) -> str | None:
        """The first answer whose counts do not add up, in words."""
        limit = getattr(case.suite, self.name).tokens
        spread = int(case.candidate.get("options", {}).get("spread", 1))  # tokens that one of another vocabulary may be
        for label, variant in case.observed(self.name)["variants"].items():
            longest = spread * int(label.removeprefix("k=")) if label.startswith("k=") else case.draft_length
            for generation in map(Generation.from_json, variant["generations"]):
                if wrong := complaint(generation, longest, limit, case.header["eos"]):
                    return f"{generation.name} under {label}: {wrong}"
        return None


def idle_variants(variants: Mapping[str, Any]) -> list[str]:
    """Variants that never drafted a token: equal answers then say nothing about speculation."""
    generations = {label: map(Generation.from_json, variant["generations"]) for label, variant in variants.items()}
    return [label for label, listed in generations.items() if not any(r.drafted for g in listed for r in g.rounds)]


def _unexplained(plain: Mapping[str, Generation], variant: Mapping[str, Any], limit: float) -> list[str]:
    """Answers with a token that noise does not explain, or with the same tokens and another text or end."""
    names = []
    for generation in map(Generation.from_json, variant["generations"]):
        wanted = plain[generation.name]
        found = fork(generation.name, "", wanted.tokens, generation.tokens)
        if found and explained(found, wanted.tokens, variant["replays"][generation.name], limit):
            continue
        if found or shown(generation) != shown(wanted):
            names.append(generation.name)
    return names
