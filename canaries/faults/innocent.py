"""Look-alikes that are no faults: the gate must not hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...engine.decoding.answer import Answer
from ...engine.drafters.base import Situation
from ...engine.drafters.draft_model import DraftModel
from ...engine.randomness import CounterRandomness, Floats, Ints, Purpose
from ...engine.request import Arrival
from ...engine.tree import DraftTree
from ..targets.strategies import Strategies

_SWAPPED = {
    Purpose.PLAIN: Purpose.PLAIN,
    Purpose.DRAFT: Purpose.LAST,
    Purpose.ACCEPT: Purpose.DRAFT,
    Purpose.LAST: Purpose.ACCEPT,
}


class OtherOrder:
    """The same uniforms in another order (N06): streams are swapped, slots run backwards."""

    def __init__(self) -> None:
        self._inner = CounterRandomness()

    def uniforms(self, seeds: Ints, rounds: Ints, purpose: Purpose, slots: int) -> Floats:
        """Uniforms in [0, 1), shape (rows, slots)."""
        given = self._inner.uniforms(seeds, rounds, _SWAPPED[purpose], slots)
        return np.ascontiguousarray(given[:, ::-1])


class CoarseChunks(Answer):
    """The stream tells of four blocks at once, when the last of them is there (N16); the tokens are the same."""

    _BLOCKS = 4
    _taken = 0
    _untold = 0

    def _take(self, tokens: Sequence[int]) -> int:
        emitted = super()._take(tokens)
        seconds = self._arrivals.pop().seconds
        self._taken, self._untold = self._taken + 1, self._untold + emitted
        if self.finish is not None or self._taken % self._BLOCKS == 0:
            self._arrivals.append(Arrival(seconds, self._untold))
            self._untold = 0
        return emitted


class ShorterDrafts(DraftModel):
    """Drafts one token, then two, up to the full length, and again from one (N25): never more than it may."""

    def draft(self, situation: Situation) -> list[DraftTree]:
        """A chain a row, its length a function of how many rounds the row has had: nothing drawn is dropped."""
        lengths = [1 + number % self.length for number in situation.rounds]
        limits = [min(pair) for pair in zip(situation.limits, lengths, strict=True)]
        return super().draft(replace(situation, limits=limits))


def other_order(strategies: Strategies) -> Strategies:
    """N06."""
    return replace(strategies, randomness=OtherOrder())


def coarse_chunks(strategies: Strategies) -> Strategies:
    """N16."""
    return replace(strategies, new_answer=CoarseChunks)


def shorter_drafts(strategies: Strategies) -> Strategies:
    """N25."""
    return replace(strategies, draft_model=ShorterDrafts)
