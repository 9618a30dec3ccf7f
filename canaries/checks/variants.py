"""What changes when a knob is turned: at T = 0, nothing may. Shared by the checks of draft lengths and of drafters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...engine.request import Generation
from ..contracts import Finding, Reason, Status
from ..observations.answers import fork, shown
from .algebra import complaint
from .base import Case, Certain
from .forking import explained, tolerance, untold


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
        changed = {
            label: _unexplained(plain, variant, limit, kept=case.kept)
            for label, variant in observed["variants"].items()
        }
        bad = {label: found.names for label, found in changed.items() if found.names}
        unsure = sum(found.untold for found in changed.values())
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
        elif unsure:
            summary = f"{unsure} of {forks} forks left the kept baseline at a near tie; run with the baseline itself"
        ranked = (
            (bad, Status.FAIL, Reason.CORRECTNESS),
            (wrong, Status.FAIL, Reason.METRICS),
            (idle, Status.NOT_EXERCISED, Reason.NOT_EXERCISED),
            (unsure, Status.INCONCLUSIVE, Reason.INCOMPLETE),
        )
        status, reason = next(((status, why) for found, status, why in ranked if found), (Status.PASS, None))
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
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


class _Changed(NamedTuple):
    """Answers of a variant that no noise explains, and how many a kept baseline leaves open."""

    names: list[str]
    untold: int


def _unexplained(plain: Mapping[str, Generation], variant: Mapping[str, Any], limit: float, *, kept: bool) -> _Changed:
    """Answers with a token that noise does not explain, or with the same tokens and another text or end."""
    names, unsure = [], 0
    for generation in map(Generation.from_json, variant["generations"]):
        wanted = plain[generation.name]
        found = fork(generation.name, "", wanted.tokens, generation.tokens)
        replay = variant["replays"][generation.name] if found else {}
        if found and explained(found, wanted.tokens, replay, limit):
            continue
        if found and kept and untold(found, wanted.tokens, replay, limit):
            unsure += 1
        elif found or shown(generation) != shown(wanted):
            names.append(generation.name)
    return _Changed(names, unsure)
