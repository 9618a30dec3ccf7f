"""Figures of finished runs by task: how far drafts are kept, how much faster, and whether plain decoding is right.

Speed and acceptance differ by what is written: structure is easily guessed, prose is not. Pools runs of one suite and
candidate. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from ...stats.speed import Ratio, paired_ratio
from ...suites.suite import KINDS, Cell, Suite
from ..checks import base
from ..checks.speed import partnered, seconds_a_token, table
from ..observations.answers import Answered, answers
from ..observations.context import seed_of
from ..record import Record

TASKS: Mapping[str, tuple[str, ...]] = {
    "structured": ("json", "tools", "code"),
    "copying": ("exact", "identifiers"),
    "dialogue": ("multi_turn",),
    "prose": ("prose",),
}
GROUPS = {**TASKS, **{kind: (kind,) for kind in KINDS if (kind,) not in TASKS.values()}}
VALID = {
    "exact": "exact_text",
    "identifiers": "identifiers",
    "json": "json_valid",
    "tools": "tools_valid",
    "code": "code_runs",
    "multi_turn": "multi_turn",
}


class Row(NamedTuple):
    """One task.

    kept
        By cell, the share of drafted tokens that were kept.
    speed
        In the first greedy cell of batch 1; None where there is none, or a baseline was kept from another hour.
    """

    task: str
    kinds: tuple[str, ...]
    kept: Mapping[str, float]
    speed: Ratio | None


def rows(suite: Suite, runs: Sequence[Record]) -> list[Row]:
    """The tasks, then the kinds they are made of; tasks that no cell asks are left out."""
    kinds = {canary.id: canary.kind for canary in suite.canaries}
    paired = not any(base.kept(run.header) for run in runs)
    alone = next((cell for cell in suite.cells if paired and cell.greedy and cell.batch == 1), None)
    listed = {
        cell.name: [list(answers(run.observations[f"{cell.name}/pairs"])) for run in runs] for cell in suite.cells
    }
    found = []
    for task, members in GROUPS.items():
        mine = {
            name: [[a for a in run if kinds[a.canary] in members] for run in answered]
            for name, answered in listed.items()
        }
        if any(run for answered in mine.values() for run in answered):
            kept = {name: _kept(answered) for name, answered in mine.items()}
            speed = _speed(suite, alone, mine[alone.name], task) if alone else None
            found.append(Row(task, members, kept, speed))
    return found


def right(cells: Sequence[Mapping[str, Any]], kinds: Collection[str]) -> tuple[int, int] | None:
    """(right, asked) of plain decoding over some kinds, in the summary's first cell that judges them."""
    counts = list(_right(cells, {VALID[kind] for kind in kinds if kind in VALID}))
    return (sum(one for one, _ in counts), sum(asked for _, asked in counts)) if counts else None


def _right(cells: Sequence[Mapping[str, Any]], checks: AbstractSet[str]) -> Iterator[tuple[int, int]]:
    seen = set[str]()
    for finding in (finding for cell in cells for finding in cell["findings"]):
        if finding["check"] in checks - seen and "baseline_right" in finding["figures"]:
            seen.add(finding["check"])
            yield finding["figures"]["baseline_right"], finding["figures"]["asked"]


def _kept(runs: Sequence[Sequence[Answered]]) -> float:
    """NaN where nothing was drafted."""
    rounds = [number for run in runs for a in run if a.arm == "candidate" for number in a.generation.rounds]
    drafted = sum(number.drafted for number in rounds)
    return sum(number.accepted for number in rounds) / drafted if drafted else float("nan")


def _speed(suite: Suite, cell: Cell, runs: Sequence[list[Answered]], task: str) -> Ratio | None:
    """Prompts are the pairs; repeats and runs of a prompt tell about the clock."""
    if not all(runs):
        return None
    arms = [
        np.concatenate([table(seconds_a_token(partnered(run), arm)) for run in runs], axis=1)
        for arm in ("baseline", "candidate")
    ]
    numbers, rng = suite.speed, np.random.default_rng(seed_of(0, cell.name, task))
    return paired_ratio(*arms, confidence=numbers.confidence, resamples=numbers.resamples, rng=rng)
