"""Speculative counters as servers keep them: totals since their start, of which a window is the difference.

A counter that a server does not have is None and stays None: nothing is derived by guessing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

from .errors import RanBackwards


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Rounds that proposed, tokens they drafted and accepted, tokens emitted; accepted by draft position."""

    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    emitted: int | None = None
    by_position: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What is known, for the record."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in known.items() if v not in (None, ())}


COUNTS = tuple(field.name for field in fields(Counters) if field.name != "by_position")


def window(before: Counters, after: Counters, where: str) -> Counters:
    """What was counted between two readings. Raises RanBackwards where a counter went down or went away."""
    counts: dict[str, Any] = {}
    for name in COUNTS:
        first, last = getattr(before, name), getattr(after, name)
        counts[name] = None if last is None and first is None else _rise(name, first or 0, last, where)
    positions = max(len(before.by_position), len(after.by_position))
    rows = zip(_padded(before, positions), _padded(after, positions), strict=True)
    by_position = tuple(_rise(f"accepted at position {i}", *row, where) for i, row in enumerate(rows))
    return Counters(**counts, by_position=by_position)


def summed(parts: Sequence[Counters]) -> Counters:
    """The counters of several replicas, or of several readings that each began at 0; None where all lack it."""
    return reduce(_add, parts)


def _add(a: Counters, b: Counters) -> Counters:
    counts: dict[str, Any] = {}
    for name in COUNTS:
        known = [count for count in (getattr(a, name), getattr(b, name)) if count is not None]
        counts[name] = sum(known) if known else None
    positions = max(len(a.by_position), len(b.by_position))
    rows = zip(_padded(a, positions), _padded(b, positions), strict=True)
    return Counters(**counts, by_position=tuple(map(sum, rows)))


def _padded(counters: Counters, length: int) -> tuple[int, ...]:
    return counters.by_position + (0,) * (length - len(counters.by_position))


def _rise(name: str, first: int, last: int | None, where: str) -> int:
    if last is None or last < first:
        told = "is gone" if last is None else f"went down from {first} to {last}"
        raise RanBackwards(where, f"the counter of {name} {told} within one window", "was the server restarted?")
    return last - first
