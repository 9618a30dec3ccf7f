"""Arms that are launched in turn: four launches A B B A over all cells, for servers that cannot be up side by side.

A cell's groups are dealt alternately to the two halves of a run, so that drift and launches fall on both arms alike;
what all checks read, the cell's `pairs`, is joined from its four blocks and stored nowhere. Each block of a cell is
answered within one launch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from ...suites.suite import Cell, Suite
from .context import Context
from .pairs import BASELINE, CANDIDATE, answered, grouped

if TYPE_CHECKING:
    from ..contracts import Launching

IN_TURN = "in turn"  # how the header of such a record says that its arms were launched
BLOCKS = (BASELINE, CANDIDATE, CANDIDATE, BASELINE)


def key(cell: Cell, block: int) -> str:
    """What a block of a cell is called in the record."""
    return f"{cell.name}/block/{block}"


def repeats(cell: Cell, groups: int) -> int:
    """How often each group is answered by each arm: a group that is alone in its cell twice at least."""
    return max(cell.repeats, 2) if groups == 1 else cell.repeats


def turns(cell: Cell, groups: int, block: int) -> list[tuple[int, int]]:
    """(group, repeat) in the order in which the block's arm answers them, of a cell of so many groups.

    Even groups are asked in the first half, odd ones in the second, all their repeats at once. The repeats of a group
    that is alone are dealt alternately instead, so that each arm has two launches in every cell. The cell's first
    groups are answered by the baseline once more, in its other launch.
    """
    half, often = block // 2, repeats(cell, groups)
    if groups == 1:
        found = [(0, repeat) for repeat in range(half, often, 2)]
    else:
        found = [(group, repeat) for group in range(half, groups, 2) for repeat in range(often)]
    again = range(1 - half, min(cell.again, groups), 2) if BLOCKS[block] == BASELINE else ()
    return found + [(group, often) for group in again]


def order(cell: Cell, groups: int, group: int) -> list[tuple[str, int]]:
    """(arm, repeat) of one group, in the order they run."""
    dealt = ((arm, turns(cell, groups, block)) for block, arm in enumerate(BLOCKS))
    return [(arm, repeat) for arm, listed in dealt for number, repeat in listed if number == group]


def observe(context: Context, cell: Cell, block: int) -> dict[str, Any]:
    """One arm's answers of one block, and when its launch was. The first group is run once before, uncounted."""
    name, groups = BLOCKS[block], grouped(context.suite, cell)
    arm = context.baseline if name == BASELINE else context.candidate
    launched = cast("Launching", arm).launch(block)
    answered(context, cell, groups[0], arm, "warm-up")
    runs = [
        {"group": group, "arm": name, "repeat": repeat}
        | answered(context, cell, groups[group], arm, f"{name}/{repeat}")
        for group, repeat in turns(cell, len(groups), block)
    ]
    return {"launched": launched, "runs": runs}


def joined(suite: Suite, cell: Cell, observed: Mapping[str, Any]) -> Any:
    """The cell's `pairs` from its blocks, each run with its launch; a block that was broken off, if there is one.

    Raises LookupError where a block is missing or has a group that the cell lacks.
    """
    blocks = [observed[key(cell, block)] for block in range(len(BLOCKS))]
    if broken := next((block for block in blocks if "broken" in block), None):
        return broken
    groups: list[dict[str, Any]] = [
        {"canaries": [canary.id for canary in group], "runs": []} for group in grouped(suite, cell)
    ]
    for block in blocks:
        for run in block["runs"]:
            told = {name: value for name, value in run.items() if name != "group"}
            groups[run["group"]]["runs"].append(told | {"launched": block["launched"]})
    return {"groups": groups}


def pairs_of(suite: Suite, cell: Cell, observed: Mapping[str, Any]) -> Any:
    """The cell's `pairs`: as they were observed, or joined. Raises LookupError where they were not."""
    whole = f"{cell.name}/pairs"
    return observed[whole] if whole in observed else joined(suite, cell, observed)


def dealt(cell: Cell, groups: int, runs: Sequence[Mapping[str, Any]], block: int) -> bool:
    """Whether these are the runs of this block: its arm's, and each turn that it takes once."""
    told = [(run["group"], run["repeat"]) for run in runs]
    return {run["arm"] for run in runs} <= {BLOCKS[block]} and told == turns(cell, groups, block)


def disordered(blocks: Sequence[Mapping[str, Any]]) -> int | None:
    """The first block that cannot have been launched when it says, after the one before had answered; None if all can.

    Launched before, it would have answered beside the other arm's server. Two blocks of one arm that follow each
    other may be of one launch: what such a launch is worth is said elsewhere.
    """
    for block, (one, other) in enumerate(pairwise(blocks), start=1):
        same = BLOCKS[block - 1] == BLOCKS[block] and one["launched"] == other["launched"]
        if not same and other["launched"] <= one["launched"] + math.fsum(run["wall"] for run in one["runs"]):
            return block
    return None
