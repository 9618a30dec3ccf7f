"""The timed pairs of a cell: both arms on the same prompts, in turn. The tokens timed are the tokens judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from ...suites.suite import Canary, Cell, Suite
from ..contracts import Arm
from .context import Context, sampling_of

if TYPE_CHECKING:
    from ..contracts import Telling

BASELINE, CANDIDATE = "baseline", "candidate"


def order(cell: Cell, group: int) -> list[tuple[str, int]]:
    """(arm, repeat) in the order they run: A B B A A B ..., the first arm changing from group to group.

    Drift of the machine then falls on both arms alike. The cell's first groups end with the baseline once more.
    """
    turns = []
    for repeat in range(cell.repeats):
        pair = [(BASELINE, repeat), (CANDIDATE, repeat)]
        turns += pair if (repeat + group) % 2 == 0 else pair[::-1]
    return [*turns, (BASELINE, cell.repeats)] if group < cell.again else turns


def grouped(suite: Suite, cell: Cell) -> list[tuple[Canary, ...]]:
    """The cell's canaries, as many together as it decodes at once."""
    canaries = suite.canaries_for(cell)
    return [canaries[start : start + cell.batch] for start in range(0, len(canaries), cell.batch)]


def observe(context: Context, cell: Cell) -> dict[str, Any]:
    """Every generation of the cell, in the order they were made. The first group is run once before, uncounted."""
    groups = grouped(context.suite, cell)
    arms = {BASELINE: context.baseline, CANDIDATE: context.candidate}
    for arm in arms.values():  # warm-up: allocations and lazy initialisation must not fall on whichever arm is first
        answered(context, cell, groups[0], arm, "warm-up")
    found = []
    for number, group in enumerate(groups):
        runs = [
            {"arm": arm, "repeat": repeat} | answered(context, cell, group, arms[arm], f"{arm}/{repeat}")
            for arm, repeat in order(cell, number)
        ]
        found.append({"canaries": [canary.id for canary in group], "runs": runs})
    return {"groups": found}


def answered(context: Context, cell: Cell, group: tuple[Canary, ...], arm: Arm, label: str) -> dict[str, Any]:
    """One arm's answers to a group, and how long they took on the wall; `label` keeps the chance of two uses apart."""
    requests = context.requests(
        group, tokens=cell.tokens, sampling=sampling_of(cell), label=f"{cell.name}/pairs/{label}"
    )
    if "counters" in arm.capabilities:
        watched = cast("Telling", arm).watch(requests)
        return {
            "wall": watched.wall,
            "generations": [generation.to_json() for generation in watched.generations],
            "counters": watched.counters,
        }
    started = time.perf_counter()
    generations = arm.generate(requests)
    wall = time.perf_counter() - started
    return {"wall": wall, "generations": [generation.to_json() for generation in generations]}
