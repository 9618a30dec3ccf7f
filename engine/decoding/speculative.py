"""Speculative decoding: draft, score, accept, commit, until every answer has ended.

What is emitted is what the verifier promises (`Guarantee`). Drafter, verifier, cache and chance are strategies handed
over at construction; this file does not know which they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..cache.contiguous import ContiguousCache
from ..drafters.base import Drafter, Situation
from ..models.base import Block, CacheFactory, LanguageModel, Logits
from ..randomness import CounterRandomness, Purpose, Randomness
from ..request import Generation, Request, Sampling
from ..sampling import draw, next_token_probs
from ..tree import DraftTree
from ..verification.base import RowChance, Verifier
from ..verification.lossless import Lossless
from .answer import Answer
from .prefill import prefill, seeds

Floats = npt.NDArray[np.float64]
Law = Callable[[Logits, Sequence[Sampling]], Floats]
AnswerFactory = Callable[[Request, Callable[[Sequence[int]], str], float], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeDecoder:
    """Decodes a batch; every row has its own draft, its own outcome and its own end."""

    model: LanguageModel
    drafter: Drafter
    verifier: Verifier = Lossless()
    new_cache: CacheFactory = ContiguousCache
    randomness: Randomness = CounterRandomness()
    law: Law = next_token_probs
    new_answer: AnswerFactory = Answer

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests."""
        if not requests:
            return []
        started = time.perf_counter()
        cache = self.new_cache(len(requests))
        answers = [self.new_answer(request, self.model.decode, started) for request in requests]
        first = draw(prefill(self.model, cache, requests), self._chance(answers, Purpose.LAST, 1)[:, 0])
        for answer, token in zip(answers, first, strict=True):
            answer.begin(int(token))
        self.drafter.begin(len(requests))
        running = self._still_open(answers, cache)
        while running:
            self._speculate(running, cache)
            running = self._still_open(running, cache)
        return [answer.generation() for answer in answers]

    def _speculate(self, answers: Sequence[Answer], cache: Cache) -> None:
        """One round: draft, score, accept, commit."""
        trees = self.drafter.draft(self._situation(answers))
        probs = self._score(trees, cache, answers)
        outcomes = self.verifier.verify(trees, probs, self._chances(answers, trees))
        cache.commit([outcome.path for outcome in outcomes])
        self.drafter.observe([len(outcome.path) for outcome in outcomes])
        for answer, tree, (path, last) in zip(answers, trees, outcomes, strict=True):
            answer.extend([*tree.tokens[path].tolist(), last], drafted=tree.drafted)

    def _situation(self, answers: Sequence[Answer]) -> Situation:
        return Situation(
            requests=[answer.request for answer in answers],
            contexts=[answer.context for answer in answers],
            limits=[min(self.drafter.length, answer.remaining - 1) for answer in answers],
            chance=self._chance(answers, Purpose.DRAFT, max(self.drafter.length, 1)),
            rounds=[len(answer.rounds) for answer in answers],
        )

    def _chances(self, answers: Sequence[Answer], trees: Sequence[DraftTree]) -> list[RowChance]:
        """The uniforms that judge this round's nodes and draw its last tokens."""
        nodes = max(len(tree.parents) for tree in trees)
        accept = self._chance(answers, Purpose.ACCEPT, nodes)
        final = self._chance(answers, Purpose.LAST, 1)[:, 0]
        return [RowChance(row, float(last)) for row, last in zip(accept, final, strict=True)]

    def _chance(self, answers: Sequence[Answer], purpose: Purpose, slots: int) -> Floats:
        """Round 0 is prefill; a row's rounds are counted from 1."""
        rounds = np.array([len(answer.rounds) + (answer.prefill > 0) for answer in answers], np.int64)
        return self.randomness.uniforms(seeds([a.request for a in answers]), rounds, purpose, slots)

    def _still_open(self, answers: Sequence[Answer], cache: Cache) -> list[Answer]:
        rows = [row for row, answer in enumerate(answers) if answer.finish is None]
        if 0 < len(rows) < len(answers):  # the last row's cache stays: a conversation goes on from it
            cache.select(rows)
            self.drafter.select(rows)
        return [answers[row] for row in rows]

    def _score(self, trees: Sequence[DraftTree], cache: Cache, answers: Sequence[Answer]) -> list[Floats]:
        """One target pass: for each row the target's law after each node, (nodes, vocabulary)."""
        block = Block.of([tree.tokens for tree in trees], [tree.parents for tree in trees])
        probs = self.law(self.model.score(block, cache), [answer.request.sampling for answer in answers])
        return [law[: len(tree.parents)] for law, tree in zip(probs, trees, strict=True)]
