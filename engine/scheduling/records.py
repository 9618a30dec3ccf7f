"""What a scheduler tells of its steps: who came and went, and how much memory it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..request import Generation


class Blocks(NamedTuple):
    """Blocks in use: of the target's pool, of the draft's, and those of the target's that are kept as prefixes."""

    target: int
    draft: int
    prefixes: int


class StepRecord(NamedTuple):
    """One step.

    step
        Its number.
    rows, waiting
        How many requests had a round in it; how many that had arrived were waiting at its end.
    length
        The most tokens that were to be drafted for a row.
    filled
        Prompt tokens that were scored.
    admitted, preempted, finished, cancelled
        Names, in the order in which it happened.
    cached
        For each admitted request how many tokens it began with that were kept as a prefix.
    blocks
        In use at its end.
    """

    step: int
    rows: int
    waiting: int
    length: int
    filled: int
    admitted: tuple[str, ...]
    preempted: tuple[str, ...]
    finished: tuple[str, ...]
    cancelled: tuple[str, ...]
    cached: tuple[int, ...]
    blocks: Blocks


@dataclass(slots=True)
class Log:
    """What a step has to tell so far."""

    rows: int = 0
    length: int = 0
    filled: int = 0
    admitted: list[str] = field(default_factory=list)
    preempted: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)

    def closed(self, step: int, waiting: int, blocks: Blocks) -> StepRecord:
        """The step is over."""
        return StepRecord(
            step=step,
            rows=self.rows,
            waiting=waiting,
            length=self.length,
            filled=self.filled,
            admitted=tuple(self.admitted),
            preempted=tuple(self.preempted),
            finished=tuple(self.finished),
            cancelled=tuple(self.cancelled),
            cached=tuple(self.cached),
            blocks=blocks,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Answers in the order of the jobs, and how they came about.

    A request that was cancelled has the answer as far as it came, with the finish "cancelled". `peak` are the most
    blocks that were in use, within rounds too; `left` those in use after the last one.
    """

    generations: Sequence[Generation]
    steps: Sequence[StepRecord]
    peak: Blocks
    left: Blocks
