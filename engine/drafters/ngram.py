"""Copies what followed the last time these tokens were seen (prompt lookup decoding). Needs no model.

Every draft token is a point mass, so what is emitted follows the target's law. Looks at nothing but the request's own
context: no memory crosses requests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..sampling import one_hot
from ..tree import DraftTree
from .base import Situation


class NGram:
    """Matches the longest suffix of `longest` down to `shortest` tokens and proposes up to `length` that followed it.

    [1 2 3 9 1 2 3] with longest 3 and length 2 proposes [9 1].
    """

    def __init__(self, vocabulary: int, length: int, longest: int = 3, shortest: int = 2) -> None:
        self.length = length
        self._vocabulary = vocabulary
        self._longest = longest
        self._shortest = shortest

    def begin(self, rows: int) -> None:
        """Nothing to forget."""
        del rows

    def draft(self, situation: Situation) -> list[DraftTree]:
        """A chain a row; bare where the context holds no repeat."""
        return [
            self._tree(context, min(limit, self.length))
            for context, limit in zip(situation.contexts, situation.limits, strict=True)
        ]

    def _tree(self, context: Sequence[int], limit: int) -> DraftTree:
        tokens = np.array(self._followers(context)[:limit] if limit > 0 else [], np.int64)
        if not len(tokens):
            return DraftTree.bare(context[-1], self._vocabulary)
        return DraftTree.chain(context[-1], tokens, one_hot(tokens, self._vocabulary))

    def _followers(self, context: Sequence[int]) -> Sequence[int]:
        for size in range(min(self._longest, len(context) - 1), self._shortest - 1, -1):
            suffix = list(context[-size:])
            for start in range(len(context) - size - 1, -1, -1):
                if list(context[start : start + size]) == suffix:
                    return context[start + size :]
        return []

    def observe(self, accepted: Sequence[int]) -> None:
        """Nothing to learn."""
        del accepted

    def select(self, rows: Sequence[int]) -> None:
        """Nothing is kept by row."""
        del rows

    def join(self, rows: int) -> None:
        """Nothing is kept by row."""
        del rows
