"""Reads recorded generations back: who answered what, in which repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...engine.request import Generation
from ...engine.sequences import shared_length


class Answered(NamedTuple):
    """One recorded answer of one arm."""

    canary: str
    arm: str
    repeat: int
    group: int
    generation: Generation


def answers(pairs: Mapping[str, Any]) -> Iterator[Answered]:
    """All answers of a `pairs` observation, in the order they were made."""
    yield from _answers(pairs, None)


def _answers(pairs: Mapping[str, Any], arm: str | None) -> Iterator[Answered]:
    """Those of one arm, or all: to read an answer takes time, and each is read by many."""
    for number, group in enumerate(pairs["groups"]):
        for run in group["runs"]:
            if arm not in {None, run["arm"]}:
                continue
            for canary, generation in zip(group["canaries"], run["generations"], strict=True):
                yield Answered(canary, run["arm"], run["repeat"], number, Generation.from_json(generation))


def shown(generation: Generation) -> tuple[str, str]:
    """What a reader has of an answer beside its tokens: its text, and how it ended."""
    return generation.text, generation.finish


def by_arm(pairs: Mapping[str, Any], arm: str) -> list[Answered]:
    """The answers of one arm."""
    return list(_answers(pairs, arm))


class Fork(NamedTuple):
    """Where a candidate's answer first leaves the baseline's. `at` counts tokens; lengths may be what differs."""

    canary: str
    label: str
    at: int
    tokens: tuple[int, ...]


def fork(canary: str, label: str, wanted: tuple[int, ...], seen: tuple[int, ...]) -> Fork | None:
    """The first place where `seen` differs from `wanted`, an early or a late end included; None if they are equal."""
    if wanted == seen:
        return None
    return Fork(canary, label, shared_length(wanted, seen), seen)


def forks(pairs: Mapping[str, Any]) -> list[Fork]:
    """Every candidate answer that differs from the baseline's first answer to the same canary."""
    first = {a.canary: a.generation.tokens for a in by_arm(pairs, "baseline") if a.repeat == 0}
    found = (
        fork(a.canary, f"repeat {a.repeat}", first[a.canary], a.generation.tokens) for a in by_arm(pairs, "candidate")
    )
    return [one for one in found if one is not None]
