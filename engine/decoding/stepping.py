"""Plain decoding by rounds, for rows that come and go: one token a row, nothing drafted.

Serving without speculation. Draws as `PlainDecoder` does, so that a request has the same answer from both, and shares
no loop with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..models.base import Block, LanguageModel
from ..randomness import CounterRandomness, Ints, Purpose, Randomness
from ..request import Request
from ..sampling import draw, next_token_probs
from .answer import Answer
from .prefill import seeds

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepping:
    """One token a round and row; has the methods of `Speculation` that a scheduler calls."""

    model: LanguageModel
    randomness: Randomness = CounterRandomness()

    @property
    def length(self) -> int:
        """Nothing is drafted."""
        return 0

    @property
    def nodes(self) -> int:
        """The newest token."""
        return 1

    def opened(self, request: Request, started: float) -> Answer:
        """An answer without a token, its clock running since `started`."""
        return Answer(request, self.model.decode, started)

    def begin(self) -> None:
        """Nothing to forget."""

    def join(self, rows: int) -> None:
        """Nothing is kept by row."""

    def select(self, rows: Sequence[int]) -> None:
        """Nothing is kept by row."""

    def first(self, answers: Sequence[Answer], probs: Floats) -> None:
        """Each answer takes a token of the law that prefill gave, (rows, vocabulary)."""
        for answer, token in zip(answers, self._drawn(answers, probs), strict=True):
            answer.begin(int(token))

    def round(self, answers: Sequence[Answer], cache: Cache, lengths: Sequence[int]) -> None:
        """Each answer takes one token. How many might be drafted does not matter."""
        del lengths
        logits = self.model.score(Block.chains([[answer.tokens[-1]] for answer in answers]), cache)
        cache.commit([[]] * len(answers))
        probs = next_token_probs(logits, [answer.request.sampling for answer in answers])[:, 0]
        for answer, token in zip(answers, self._drawn(answers, probs), strict=True):
            answer.step(int(token))

    def _drawn(self, answers: Sequence[Answer], probs: Floats) -> Ints:
        steps = np.array([len(answer.tokens) for answer in answers], np.int64)
        chance = self.randomness.uniforms(seeds([a.request for a in answers]), steps, Purpose.PLAIN, 1)
        return draw(probs, chance[:, 0])
