"""What changes when a knob is turned: at T = 0, nothing may. Shared by the checks of draft lengths and of drafters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...engine.request import Generation
from ..contracts import Finding, Reason, Status
from ..observations.answers import fork, shown
from .algebra import complaint
from .base import Case, Certain
from .forking import explained, tolerance, untold


class Problem(NamedTuple):
    """Something that speaks against a PASS."""

    summary: str
    status: Status
    reason: Reason | None


class Variants(Certain):
    """Each variant's greedy answers are the plain ones, near ties aside, and their counts add up."""

    def __init__(self, name: str, observation: str | None = None) -> None:
        self.name = name
        self.observation = observation or name
        self.observes = (self.observation, "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL for one variant that changes a confident token or miscounts; PASS needs every one to have drafted."""
        observed = case.observed(self.observation)
        changed = self._changed(case)
        tokens = sum(len(g["tokens"]) for v in observed["variants"].values() for g in v["generations"])
        labels = ", ".join(observed["variants"])
        forks = sum(len(variant["replays"]) for variant in observed["variants"].values())
        told = f" but for {forks} fork{'s' * (forks > 1)} that noise explains" if forks else ""
        equal = Problem(f"{tokens} tokens equal{told} under {labels}", Status.PASS, None)
        worst = next(self.problems(case), equal)
        names = [(label, name) for label, found in changed.items() for name in found.names]
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=worst.status,
            reason=worst.reason,
            summary=worst.summary,
            reproduce=tuple(dict.fromkeys(f"{label}:{name}" for label, name in names)),
            figures={"tokens": tokens, "variants": len(observed["variants"]), "forks": forks},
        )

    def problems(self, case: Case) -> Iterator[Problem]:
        """All that speaks against a PASS, the worst first."""
        changed, variants = self._changed(case), case.observed(self.observation)["variants"]
        if bad := [label for label, found in changed.items() if found.names]:
            yield Problem(f"answers change with {', '.join(bad)}", Status.FAIL, Reason.CORRECTNESS)
        yield from self.wrongs(case)
        if idle := idle_variants(variants):
            words = f"nothing was drafted under {', '.join(idle)}"
            yield Problem(words, Status.NOT_EXERCISED, Reason.NOT_EXERCISED)
        if unsure := sum(found.untold for found in changed.values()):
            forks = sum(len(variant["replays"]) for variant in variants.values())
            words = f"{unsure} of {forks} forks left the kept baseline at a near tie; run with the baseline itself"
            yield Problem(words, Status.INCONCLUSIVE, Reason.INCOMPLETE)

    def wrongs(self, case: Case) -> Iterator[Problem]:
        """What is wrong beside the tokens: counts that do not add up."""
        if wrong := self._miscounted(case):
            yield Problem(wrong, Status.FAIL, Reason.METRICS)

    def _changed(self, case: Case) -> dict[str, _Changed]:
        """What each variant changed."""
        observed, limit = case.observed(self.observation), tolerance(case)
        plain = {g.name: g for g in map(Generation.from_json, observed["plain"])}
        return {
            label: _unexplained(plain, variant, limit, kept=case.kept)
            for label, variant in observed["variants"].items()
        }

    def _miscounted(self, case: Case) -> str | None:
        """The first answer whose counts do not add up, in words."""
        limit = getattr(case.suite, self.name).tokens
        spread = int(case.candidate.get("options", {}).get("spread", 1))  # tokens that one of another vocabulary may be
        for label, variant in case.observed(self.observation)["variants"].items():
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
