"""A session of the reference engine: its scheduler, its pools, its prefixes and its drafter, alive from call to call.

Both arms are hosted alike; plain decoding drafts nothing. Every part is the arm's own strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from ...engine.cache.base import Cache, Entries
from ...engine.cache.blocks import BlockPool
from ...engine.cache.contiguous import ContiguousCache
from ...engine.cache.paged import PagedCache, Window
from ...engine.cache.sequence import HOLE
from ...engine.decoding.stepping import Stepping
from ...engine.errors import EngineError
from ...engine.models.base import Block, CacheFactory, LanguageModel, Logits
from ...engine.scheduling.bypass import Always, Policy
from ...engine.scheduling.job import Job, Limits
from ...engine.scheduling.records import Served, StepRecord
from ...engine.scheduling.rounds import Rounds
from ...engine.scheduling.row import Row
from ..errors import BrokenAnswer
from ..load import Difference, Load
from ..observations.pairs import BASELINE, CANDIDATE
from . import caches

if TYPE_CHECKING:
    from .reference import ReferenceTarget


class Alternating(Always):
    """Drafts `k` tokens for so many steps, then none for as many, and so on: a seam that is sure to be crossed."""

    def __init__(self, k: int, steps: int) -> None:
        super().__init__(k)
        self._steps = steps
        self._asked = 0

    def length(self, batch: int) -> int:
        """By the number of steps that were asked for."""
        del batch
        self._asked += 1
        return self.k if (self._asked - 1) // self._steps % 2 == 0 else 0


class Hosted:
    """A session of one arm."""

    def __init__(self, arm: ReferenceTarget, load: Load) -> None:
        parts = arm.strategies
        self.model = arm.model
        self._role = BASELINE if arm.method == "plain" else CANDIDATE
        pool, draft = _pool(arm, load), BlockPool(load.blocks, load.block)
        self._fresh = caches.contiguous(arm.cache_type)
        own = replace(arm, strategies=replace(parts, draft_cache=PagedCache.factory(draft)))
        self.scheduler = parts.scheduler(
            _rounds(own),
            parts.memory(
                pool,
                draft=draft,
                prefixes=parts.prefixes(pool, pool.blocks),
                window=_window(arm.model),
                paged=parts.paged,
            ),
            Limits(batch=load.batch, chunk=load.chunk, tokens=load.batch * load.chunk),
            _policy(arm.draft_length, load.bypass),
        )

    def serve(self, jobs: Sequence[Job], look: Callable[[], object] | None = None) -> Served:
        """What became of these jobs, whose steps are counted from the call on; `look` is called after every step.

        Raises BrokenAnswer where the engine gives up over them.
        """
        try:
            return self._served(jobs, look)
        except EngineError as error:
            raise BrokenAnswer(f"a session under load ended in an error ({error})", self._role) from error

    def _served(self, jobs: Sequence[Job], look: Callable[[], object] | None) -> Served:
        scheduler, now = self.scheduler, self.scheduler.now
        scheduler.memory.count_anew()
        for job in jobs:
            cancels = None if job.cancels is None else job.cancels + now
            scheduler.submit(replace(job, arrives=job.arrives + now, cancels=cancels))
        steps: list[StepRecord] = []
        while scheduler.busy:
            steps.append(scheduler.step())
            if look:
                look()
        return Served(
            generations=[scheduler.take(job.request.name) for job in jobs],
            steps=steps,
            peak=scheduler.memory.peak,
            left=scheduler.memory.used,
        )

    def differences(self) -> list[Difference]:
        """Of every row that is running now."""
        rows = self.scheduler.running
        if not rows:
            return []
        layers = prefilled(self.model, [row.fed for row in rows], self._fresh)
        return [self._off(row, number, layers) for number, row in enumerate(rows)]

    def _off(self, row: Row, number: int, layers: Sequence[Entries]) -> Difference:
        held, pool, window = row.held, self.scheduler.memory.pool, self.scheduler.memory.window
        length = min(held.length, len(row.fed))
        first = window.first(length) if window else 0
        table = torch.tensor([[pool.blank if block == HOLE else block for block in held.blocks]])
        off = [0.0, 0.0]
        for layer, fresh in enumerate(layers):
            cached = pool.store.take(layer, table)
            for which, (one, other) in enumerate(zip(cached, fresh, strict=True)):
                apart = _apart(one[0, :, first:length], other[number, :, first:length])
                off[which] = float(np.maximum(off[which], apart))  # max() would lose a NaN
        return Difference(row.name, held.length - len(row.fed), *off)


def scored_behind(
    arm: ReferenceTarget, prompts: Sequence[Sequence[int]], blocks: Sequence[Block], load: Load
) -> list[Logits]:
    """Logits of each block behind the prompts, one after the other, on the arm's own cache; none is kept."""
    cache = arm.strategies.paged(_pool(arm, load))
    cache.join(len(prompts))
    arm.model.score_last(Block.chains(list(map(list, prompts))), cache)
    cache.commit([list(range(1, len(prompt))) for prompt in prompts])
    found = []
    for block in blocks:
        found.append(arm.model.score(block, cache))
        cache.commit([[]] * len(prompts))
        cache.rewind(np.array([len(prompt) for prompt in prompts]))
    return found


def prefilled(
    model: LanguageModel, texts: Sequence[Sequence[int]], new_cache: CacheFactory = ContiguousCache
) -> list[Entries]:
    """What one pass over each text leaves in an empty cache, layer by layer."""
    kept = _Kept(new_cache(len(texts)))
    cache: Any = kept  # all of a cache that a model's pass asks for
    model.score_last(Block.chains(list(map(list, texts))), cache)
    return [kept.found[layer] for layer in sorted(kept.found)]


class _Kept:
    """Remembers what a cache gave to each layer."""

    def __init__(self, inner: Cache) -> None:
        self._inner = inner
        self.lengths = inner.lengths
        self.found: dict[int, Entries] = {}

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """As the cache does."""
        self.found[layer] = self._inner.write(layer, keys, values)
        return self.found[layer]


def _pool(arm: ReferenceTarget, load: Load) -> BlockPool:
    """Blocks of the arm's own type of cache."""
    return BlockPool(load.blocks, load.block, caches.store(arm.cache_type))


def _rounds(arm: ReferenceTarget) -> Rounds:
    if arm.method == "plain":
        return Stepping(model=arm.model)
    parts = arm.strategies
    rounds: Rounds = parts.speculation(
        model=arm.model,
        drafter=arm.drafter(),
        verifier=parts.verifier,
        randomness=parts.randomness,
        law=parts.law,
        new_answer=parts.new_answer,
    )
    return rounds


def _window(model: LanguageModel) -> Window | None:
    """How far every layer sees; rounds take nothing back that is committed."""
    width = getattr(model, "window", None)
    return Window(width, 0) if width else None


def _policy(k: int, bypass: int) -> Policy:
    return Alternating(k, bypass) if bypass else Always(k)


def _apart(one: Tensor, other: Tensor) -> float:
    """Of the entry that is furthest off, the mean over heads and width: in few bits a code is one step off at times."""
    return float((one - other).abs().mean(dim=(0, 2)).max()) if one.numel() else 0.0
