"""Speculative decoding of one batch: rounds until every answer has ended. `round.py` says what a round is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..cache.base import Cache
from ..cache.contiguous import ContiguousCache
from ..models.base import CacheFactory
from ..request import Generation, Request
from .answer import Answer
from .prefill import prefill
from .round import Speculation


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeDecoder(Speculation):
    """Decodes a batch; every row has its own draft, its own outcome and its own end."""

    new_cache: CacheFactory = ContiguousCache

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests."""
        if not requests:
            return []
        started = time.perf_counter()
        cache = self.new_cache(len(requests))
        answers = [self.opened(request, started) for request in requests]
        self.first(answers, prefill(self.model, cache, requests))
        self.drafter.begin(len(requests))
        running = self._still_open(answers, cache)
        while running:
            self.round(running, cache, [self.length] * len(running))
            running = self._still_open(running, cache)
        return [answer.generation() for answer in answers]

    def _still_open(self, answers: Sequence[Answer], cache: Cache) -> list[Answer]:
        rows = [row for row, answer in enumerate(answers) if answer.finish is None]
        if 0 < len(rows) < len(answers):  # the last row's cache stays: a conversation goes on from it
            cache.select(rows)
            self.drafter.select(rows)
        return [answers[row] for row in rows]
