"""Plants in the scheduler: outcomes that reach the wrong row, or too late; prefixes that hold what was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from ...engine.decoding.answer import Answer
from ...engine.decoding.round import Speculation
from ...engine.scheduling.memory import Memory
from ...engine.scheduling.row import Row
from ...engine.scheduling.scheduler import Scheduler
from ...engine.tree import DraftTree
from ...engine.verification.base import Accepted
from ..targets.strategies import Strategies


class JoinsByName(Speculation):
    """Outcomes are handed to the requests in the order of their names (F64)."""

    __slots__ = ()

    def extend(self, answers: Sequence[Answer], trees: Sequence[DraftTree], outcomes: Sequence[Accepted]) -> None:
        """Right where the rows happen to be in that order. The drafter goes back to before the round in any case."""
        super().extend(sorted(answers, key=lambda answer: answer.request.name), trees, outcomes)
        self.drafter.observe([-self.drafter.length] * len(answers))


class LateFrames(Scheduler):
    """What a row's last round emitted is applied again once the row was preempted and has come back (F66)."""

    def preempt(self, row: Row) -> None:
        """The frame is still on its way."""
        rounds = row.answer.rounds
        row.__dict__["late"] = row.answer.tokens[-rounds[-1].emitted :] if rounds else []
        super().preempt(row)

    def _feed(self, size: int, rows: Sequence[Row]) -> None:
        super()._feed(size, rows)
        for row in rows:
            late = row.__dict__.get("late", [])
            if late and not row.missing and row.answer.finish is None:
                row.__dict__["late"] = []
                row.answer.extend(late, len(late))


class KeepsUnverified(Memory):
    """A prefix's last block is kept as it was before the rounds that filled it were judged (F54).

    What the tree then holds at the last places is the entry of another token than the one it is found by.
    """

    def keep(self, row: Row) -> None:
        """The answer's entries are those of the token before, in blocks that nobody else reads yet."""
        held, prompt = row.held, len(row.answer.request.prompt)
        if row.answer.finish is not None and held.length > prompt:
            places = held.slots(prompt - 1, held.length)
            self.pool.store.move(torch.tensor(places[:-1]), torch.tensor(places[1:]))
        super().keep(row)


def join_by_name(strategies: Strategies) -> Strategies:
    """F64."""
    return replace(strategies, speculation=JoinsByName)


def apply_late_frames(strategies: Strategies) -> Strategies:
    """F66."""
    return replace(strategies, scheduler=LateFrames)


def keep_unverified(strategies: Strategies) -> Strategies:
    """F54."""
    return replace(strategies, memory=KeepsUnverified)
