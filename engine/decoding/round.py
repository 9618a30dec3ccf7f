"""One round of speculative decoding: draft, score, accept, commit.

The loop's body, for whoever keeps the rows: a decoder of one batch, or the scheduler, whose rows come and go. Drafter,
verifier, chance and law are strategies handed over at construction; this file does not know which they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..drafters.base import Drafter, Situation
from ..models.base import Block, LanguageModel, Logits
from ..randomness import CounterRandomness, Purpose, Randomness
from ..request import Request, Sampling
from ..sampling import draw, next_token_probs
from ..tree import DraftTree
from ..verification.base import Accepted, RowChance, Verifier
from ..verification.lossless import Lossless
from .answer import Answer
from .prefill import seeds

Floats = npt.NDArray[np.float64]
Law = Callable[[Logits, Sequence[Sampling]], Floats]
AnswerFactory = Callable[[Request, Callable[[Sequence[int]], str], float], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """What a round is made of. What is emitted is what the verifier promises (`Guarantee`)."""

    model: LanguageModel
    drafter: Drafter
    verifier: Verifier = Lossless()
    randomness: Randomness = CounterRandomness()
    law: Law = next_token_probs
    new_answer: AnswerFactory = Answer

    @property
    def length(self) -> int:
        """The most tokens that a round drafts."""
        return self.drafter.length

    @property
    def nodes(self) -> int:
        """The most nodes of a tree, its root among them: a chain's."""
        return 1 + self.length

    def opened(self, request: Request, started: float) -> Answer:
        """An answer without a token, its clock running since `started`."""
        return self.new_answer(request, self.model.decode, started)

    def begin(self) -> None:
        """No row has a draft: all are still to join."""
        self.drafter.begin(0)

    def join(self, rows: int) -> None:
        """So many more rows take part from the next round on, behind those there are."""
        self.drafter.join(rows)

    def select(self, rows: Sequence[int]) -> None:
        """Of the rows that take part these stay, in their order."""
        self.drafter.select(rows)

    def first(self, answers: Sequence[Answer], probs: Floats) -> None:
        """Each answer takes a token of the law that prefill gave, (rows, vocabulary): round 0."""
        tokens = draw(probs, self._chance(answers, Purpose.LAST, 1)[:, 0])
        for answer, token in zip(answers, tokens, strict=True):
            answer.begin(int(token))

    def round(self, answers: Sequence[Answer], cache: Cache, lengths: Sequence[int]) -> None:
        """Draft, score, accept, commit. Row `row` drafts at most `lengths[row]` tokens, and none that would be cut."""
        trees = self.drafter.draft(self.situation(answers, lengths))
        probs = self.score(trees, cache, answers)
        outcomes = self.verifier.verify(trees, probs, self._chances(answers, trees))
        cache.commit([outcome.path for outcome in outcomes])
        self.drafter.observe([len(outcome.path) for outcome in outcomes])
        self.extend(answers, trees, outcomes)

    def situation(self, answers: Sequence[Answer], lengths: Sequence[int]) -> Situation:
        """What the drafter may look at."""
        limits = [min(length, answer.remaining - 1) for length, answer in zip(lengths, answers, strict=True)]
        return Situation(
            requests=[answer.request for answer in answers],
            contexts=[answer.context for answer in answers],
            limits=limits,
            chance=self._chance(answers, Purpose.DRAFT, max(0, *limits)),
            rounds=[len(answer.rounds) for answer in answers],
        )

    def score(self, trees: Sequence[DraftTree], cache: Cache, answers: Sequence[Answer]) -> list[Floats]:
        """One target pass: for each row the target's law after each node, (nodes, vocabulary)."""
        cache.reserve([len(tree.parents) for tree in trees])
        block = Block.of([tree.tokens for tree in trees], [tree.parents for tree in trees])
        probs = self.law(self.model.score(block, cache), [answer.request.sampling for answer in answers])
        return [law[: len(tree.parents)] for law, tree in zip(probs, trees, strict=True)]

    def extend(self, answers: Sequence[Answer], trees: Sequence[DraftTree], outcomes: Sequence[Accepted]) -> None:
        """Each answer takes what its own row's tree and outcome emitted."""
        for answer, tree, (path, last) in zip(answers, trees, outcomes, strict=True):
            answer.extend([*tree.tokens[path].tolist(), last], drafted=tree.drafted)

    def _chances(self, answers: Sequence[Answer], trees: Sequence[DraftTree]) -> list[RowChance]:
        """The uniforms that judge this round's nodes and draw its last tokens."""
        drafted = max(tree.drafted for tree in trees)
        accept = self._chance(answers, Purpose.ACCEPT, drafted and 1 + drafted)  # node 0, the root, is not judged
        final = self._chance(answers, Purpose.LAST, 1)[:, 0]
        return [RowChance(row, float(last)) for row, last in zip(accept, final, strict=True)]

    def _chance(self, answers: Sequence[Answer], purpose: Purpose, slots: int) -> Floats:
        """Round 0 is prefill; a row's rounds are counted from 1."""
        rounds = np.array([len(answer.rounds) + (answer.prefill > 0) for answer in answers], np.int64)
        return self.randomness.uniforms(seeds([a.request for a in answers]), rounds, purpose, slots)
