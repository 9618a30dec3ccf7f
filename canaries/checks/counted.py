"""What a target counted over windows of timed answers, where it tells no rounds of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

COUNTS = ("rounds", "drafted", "accepted", "emitted")


class Window(NamedTuple):
    """One run of one arm: the canaries answered in it, the tokens that came, and the target's own counts.

    A count that was not told is None.
    """

    canaries: tuple[str, ...]
    tokens: int
    rounds: int | None
    drafted: int | None
    accepted: int | None
    emitted: int | None
    by_position: tuple[int, ...]


def windows(pairs: Mapping[str, Any], arm: str) -> Iterator[Window]:
    """The windows of an arm, a whole run each; a run whose answers are counted one by one gives one window each."""
    for group in pairs["groups"]:
        for run in group["runs"]:
            if run["arm"] == arm and "counters" in run:
                yield from _windows(group["canaries"], run)


def _windows(canaries: list[str], run: Mapping[str, Any]) -> Iterator[Window]:
    tokens, told = [len(g["tokens"]) for g in run["generations"]], run["counters"]
    if all(each is not None for each in told["each"]):
        for canary, count, each in zip(canaries, tokens, told["each"], strict=True):
            yield _window((canary,), count, each)
    else:
        yield _window(tuple(canaries), sum(tokens), told["window"])


def _window(canaries: tuple[str, ...], tokens: int, told: Mapping[str, Any]) -> Window:
    counts = {name: told.get(name) for name in COUNTS}
    return Window(canaries, tokens, by_position=tuple(told.get("by_position", ())), **counts)


def total(listed: list[Window], name: str) -> int | None:
    """The sum of a count over windows; None where there is none or one does not tell it."""
    counts = [getattr(window, name) for window in listed]
    return None if not counts or None in counts else sum(counts)
