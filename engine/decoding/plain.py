"""Plain decoding: one token a step. The baseline that every speculative arm is held against; shares no loop with it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..cache.contiguous import ContiguousCache
from ..models.base import Block, CacheFactory, LanguageModel
from ..randomness import CounterRandomness, Purpose, Randomness
from ..request import Generation, Request
from ..sampling import draw, next_token_probs
from .answer import Answer
from .prefill import prefill, seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDecoder:
    """Decodes a batch, every row one token a step, rows leaving as they end."""

    model: LanguageModel
    new_cache: CacheFactory = ContiguousCache
    randomness: Randomness = CounterRandomness()

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests."""
        if not requests:
            return []
        started = time.perf_counter()
        cache = self.new_cache(len(requests))
        answers = [Answer(request, self.model.decode, started) for request in requests]
        probs = prefill(self.model, cache, requests)
        open_rows, step = answers, 0
        while open_rows:
            chance = self.randomness.uniforms(
                seeds([a.request for a in open_rows]), np.full(len(open_rows), step), Purpose.PLAIN, 1
            )
            for answer, token in zip(open_rows, draw(probs, chance[:, 0]), strict=True):
                answer.begin(int(token)) if step == 0 else answer.step(int(token))
            rows = [row for row, answer in enumerate(open_rows) if answer.finish is None]
            if 0 < len(rows) < len(open_rows):  # the last row's cache stays: a conversation goes on from it
                cache.select(rows)
            open_rows, step = [open_rows[row] for row in rows], step + 1
            if open_rows:
                logits = self.model.score(Block.chains([[a.tokens[-1]] for a in open_rows]), cache)
                cache.commit([[]] * len(open_rows))
                probs = next_token_probs(logits, [a.request.sampling for a in open_rows])[:, 0]
        return [answer.generation() for answer in answers]
