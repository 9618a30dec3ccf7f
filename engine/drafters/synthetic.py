"""Drafters that no one would deploy: each drives the verifier into one corner on purpose.

Oracle: every round is a full acceptance. Adversary: every round is a rejection at the first node. OddEven: drafts on
every other round only. Branches: what is accepted is never the first child. Uniform: acceptance can be computed by
hand. (`self` is a DraftModel on the target itself.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..sampling import draw, one_hot
from ..tree import DraftTree
from .base import Situation

Ints = npt.NDArray[np.int64]


class _Memoryless:
    """A drafter of chains that keeps nothing between rounds."""

    def __init__(self, vocabulary: int, length: int) -> None:
        self.length = length
        self._vocabulary = vocabulary

    def begin(self, rows: int) -> None:
        """Nothing to forget."""
        del rows

    def observe(self, accepted: Sequence[int]) -> None:
        """Nothing to learn."""
        del accepted

    def select(self, rows: Sequence[int]) -> None:
        """Nothing is kept by row."""
        del rows

    def join(self, rows: int) -> None:
        """Nothing is kept by row."""
        del rows

    def draft(self, situation: Situation) -> list[DraftTree]:
        """A chain of chosen tokens a row."""
        return [self._tree(situation, row) for row in range(len(situation.requests))]

    def _tree(self, situation: Situation, row: int) -> DraftTree:
        root = situation.contexts[row][-1]
        tokens = self._tokens(situation, row)[: max(0, min(self.length, situation.limits[row]))]
        if not len(tokens):
            return DraftTree.bare(root, self._vocabulary)
        return DraftTree.chain(root, tokens, one_hot(tokens, self._vocabulary))

    def _tokens(self, situation: Situation, row: int) -> Ints:
        raise NotImplementedError


class Oracle(_Memoryless):
    """Replays known answers, looked up by the request's name."""

    def __init__(self, vocabulary: int, length: int, answers: Mapping[str, Sequence[int]]) -> None:
        super().__init__(vocabulary, length)
        self._answers = answers

    def _tokens(self, situation: Situation, row: int) -> Ints:
        request, context = situation.requests[row], situation.contexts[row]
        done = len(context) - len(request.prompt)
        return np.array(self._answers.get(request.name, ())[done:], np.int64)


class OddEven(Oracle):
    """The oracle on even rounds, nothing on odd ones: the path of a round without a draft."""

    def _tokens(self, situation: Situation, row: int) -> Ints:
        tokens = super()._tokens(situation, row)
        return tokens if situation.rounds[row] % 2 == 0 else tokens[:0]


class Adversary(Oracle):
    """Never right while the known answer is followed: each token is the right one plus one."""

    def _tokens(self, situation: Situation, row: int) -> Ints:
        return (super()._tokens(situation, row) + 1) % self._vocabulary


class Branches(Oracle):
    """The oracle behind a wrong sibling: at each level a token that is not the answer's, then the one that is.

    As many levels as `length` nodes allow. What is accepted is never a first child, so that a cache has to move it up.
    """

    def _tree(self, situation: Situation, row: int) -> DraftTree:
        root = situation.contexts[row][-1]
        levels = max(0, min(self.length // 2, situation.limits[row]))
        right = self._tokens(situation, row)[:levels]
        if not len(right):
            return DraftTree.bare(root, self._vocabulary)
        drafts = np.stack([(right + 1) % self._vocabulary, right], axis=1).reshape(-1)
        parents = (-1, *(2 * level for level in range(len(right)) for _ in range(2)))  # the second child goes on
        laws = one_hot(np.concatenate(([root], drafts)), self._vocabulary)
        return DraftTree(np.concatenate(([root], drafts)), parents, laws)


class Uniform(_Memoryless):
    """Tokens drawn evenly from the vocabulary, and said to be: acceptance is the sum of min(p, 1 / vocabulary)."""

    def _tree(self, situation: Situation, row: int) -> DraftTree:
        limit = max(0, min(self.length, situation.limits[row]))
        root = situation.contexts[row][-1]
        if limit == 0:
            return DraftTree.bare(root, self._vocabulary)
        laws = np.full((limit, self._vocabulary), 1.0 / self._vocabulary)
        return DraftTree.chain(root, draw(laws, situation.chance[row, :limit]), laws)
