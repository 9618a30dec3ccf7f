"""Look-alikes under load that are no faults: memory and order are an engine's own business."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...engine.cache.blocks import BlockPool
from ...engine.scheduling.memory import Memory
from ...engine.scheduling.row import Row
from ...engine.scheduling.scheduler import Scheduler
from ..targets.strategies import Strategies

HALF = 2


class OtherBlocks(Memory):
    """The pool has twice as many blocks of half the size (N26)."""

    def __init__(self, pool: BlockPool, *, prefixes: Any, **more: Any) -> None:
        other = BlockPool(pool.blocks * HALF, pool.size // HALF)
        super().__init__(other, prefixes=type(prefixes)(other, other.blocks), **more)


class ShortestFirst(Scheduler):
    """Of those that wait the one with the shortest prompt is let in first (N27)."""

    def _admit(self) -> None:
        self.queue.waiting.sort(key=lambda row: len(row.answer.request.prompt))
        super()._admit()


class ForgetsThePreempted(Scheduler):
    """Nothing is kept of a row that gives way: all of it is computed again (N28)."""

    def preempt(self, row: Row) -> None:
        """As any row that is dropped, but that it waits."""
        self.memory.abandon(row)
        self._leave([row])
        self.queue.wait(row)
        self._log.preempted.append(row.name)


def other_blocks(strategies: Strategies) -> Strategies:
    """N26."""
    return replace(strategies, memory=OtherBlocks)


def shortest_first(strategies: Strategies) -> Strategies:
    """N27."""
    return replace(strategies, scheduler=ShortestFirst)


def forget_the_preempted(strategies: Strategies) -> Strategies:
    """N28."""
    return replace(strategies, scheduler=ForgetsThePreempted)
