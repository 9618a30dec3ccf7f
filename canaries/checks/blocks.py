"""Cells that were timed block by block: their `pairs` as all checks read them, or why there are none.

Judges neither arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...suites.suite import Cell, Suite
from ..observations.blocks import BLOCKS, IN_TURN, dealt, disordered, joined, key, repeats
from ..observations.pairs import grouped
from .base import Case
from .ranges import SHAPES, misshapen


def in_turn(header: Mapping[str, Any]) -> bool:
    """Whether the arms of a record were launched in turn."""
    return header.get("launching") == IN_TURN


def as_asked(suite: Suite, header: Mapping[str, Any], cell: Cell) -> Cell:
    """The cell with as many repeats as were made of it."""
    return replace(cell, repeats=repeats(cell, len(grouped(suite, cell)))) if in_turn(header) else cell


def assembled(suite: Suite, header: Mapping[str, Any], observations: Mapping[str, Any]) -> Mapping[str, Any]:
    """The observations with the `pairs` that blocks make; a cell whose blocks are unfit has none."""
    if not in_turn(header):
        return observations
    names = {f"{cell.name}/pairs": cell for cell in suite.cells}
    fit = {name: cell for name, cell in names.items() if not _unfit(suite, cell, observations)}
    others = {name: value for name, value in observations.items() if name not in names}
    return others | {name: joined(suite, cell, observations) for name, cell in fit.items()}


def unfit(case: Case) -> str | None:
    """Why the cell's blocks make no `pairs`; None where they do, or where it was not timed by blocks."""
    return _unfit(case.suite, case.cell, case.observations) if in_turn(case.header) else None


def _unfit(suite: Suite, cell: Cell, observations: Mapping[str, Any]) -> str | None:
    groups = len(grouped(suite, cell))
    for block, arm in enumerate(BLOCKS):
        name = key(cell, block)
        found = observations.get(name)
        if found is None:
            return f"{name} was not observed, and a cell takes {len(BLOCKS)} blocks; run again"
        if isinstance(found, dict) and found.keys() == {"broken"}:
            continue
        if wrong := misshapen(found, SHAPES["block"], name):
            return f"{name} cannot have been observed ({wrong}); run again"
        if not dealt(cell, groups, found["runs"], block):
            return f"{name} is not what the {arm} was to answer there; run again"
    return _disorder(cell, [observations[key(cell, block)] for block in range(len(BLOCKS))])


def _disorder(cell: Cell, found: Sequence[Mapping[str, Any]]) -> str | None:
    """Which launch was not in its turn; of blocks that were broken off nothing is timed."""
    late = None if any("broken" in block for block in found) else disordered(found)
    if late is None:
        return None
    before, after = (key(cell, block) for block in (late - 1, late))
    return f"{after} says it was launched before {before} had answered, and arms take turns; run again"
