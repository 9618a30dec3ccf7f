"""Are the observations of serving all there? Every label, every request, and every thing that may have happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...suites.served import Serving
from ..observations.serving import mixed, parity
from ..observations.serving.masks import SHAPES
from ..observations.serving.scenarios import SCENARIOS, SERVING, asked_for, labels
from .base import Case
from .covered import answered, cover
from .values import above, amount, integer, text

Complete = Callable[[Case], bool]


def complete(name: str, says: Callable[[Case, Serving, Mapping[str, Any]], bool]) -> Complete:
    """Whether `says` finds the observation complete; never where the suite has no numbers for it."""

    def judged(case: Case) -> bool:
        numbers = case.suite.serving
        return numbers is not None and says(case, numbers, case.observed(name))

    return judged


def scenario(name: str) -> Complete:
    """Whether every label answered every request, and tells of all that it must have met."""

    def says(case: Case, numbers: Serving, found: Mapping[str, Any]) -> bool:
        wanted = labels(numbers, name)
        told = all(
            {*one.met, *one.never, "left", "hits"} <= found["variants"].get(label, {}).get("met", {}).keys()
            for label, one in wanted.items()
        )
        return told and _answered(found, asked_for(case.suite, numbers, name), list(wanted))

    return complete(f"{SERVING}/{name}", says)


def _answered(found: Mapping[str, Any], names: list[str], wanted: list[str]) -> bool:
    plain = {g["name"]: tuple(g["tokens"]) for g in found["plain"]}
    return (
        list(plain) == names != []
        and all(plain.values())
        and list(found["variants"]) == wanted != []
        and all(answered(variant, plain) for variant in found["variants"].values())
    )


def parameters(case: Case, numbers: Serving, found: Mapping[str, Any]) -> bool:
    """Whether every row of every mixed batch answered, sampled ones with their replays."""
    names = mixed.expected(case.suite, numbers, case.draft_length)
    sampled = found["sampled"]
    return (
        _answered(found, names.greedy, list(labels(numbers, "parameters")))
        and [one["generation"]["name"] for one in sampled] == names.sampled
        and cover([one["replay"] for one in sampled], [one["generation"]["tokens"] for one in sampled])
    )


def mask_probe(case: Case, numbers: Serving, found: Mapping[str, Any]) -> bool:
    """Whether every change was made, at all places."""
    del case
    return list(found["changes"]) == list(SHAPES) and found["places"] == numbers.places


def state_parity(case: Case, numbers: Serving, found: Mapping[str, Any]) -> bool:
    """Whether caches were compared under every drafter."""
    del case, numbers
    return list(found["drafters"]) == list(parity.labels())


def shapes(generation: Any, replay: Any) -> dict[str, Any]:
    """Of which shape each observation is, answers and replays being of these."""
    variant = {"generations": [generation], "replays": {...: replay}, "met": {...: integer}}
    played = {"plain": [generation], "variants": {...: variant}}
    counts = dict.fromkeys(("compared", "lengths", "drafted", "accepted"), integer)
    off = counts | {"keys": amount, "values": amount, "first": text}
    return {
        **{f"{SERVING}/{name}": played for name in SCENARIOS},
        f"{SERVING}/parameters": played | {"sampled": [{"generation": generation, "replay": replay}]},
        f"{SERVING}/mask_probe": {"places": above, "changes": {...: {"moved": amount, "reached": amount}}},
        f"{SERVING}/state_parity": {"drafters": {...: off}},
    }


COMPLETE: Mapping[str, Complete] = {
    **{f"{SERVING}/{name}": scenario(name) for name in SCENARIOS},
    f"{SERVING}/parameters": complete(f"{SERVING}/parameters", parameters),
    f"{SERVING}/mask_probe": complete(f"{SERVING}/mask_probe", mask_probe),
    f"{SERVING}/state_parity": complete(f"{SERVING}/state_parity", state_parity),
}
