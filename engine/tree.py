"""The draft tree: what a drafter proposes and a verifier walks. A chain is a thin tree.

Node 0 is the root: the last committed token, which the target has not seen yet. Nodes are numbered so that parents come
before children. Knows nothing about how drafts are made or judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

ROOT = 0

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DraftTree:
    """Proposed continuations of one context.

    `tokens` and `parents` have shape (nodes,), `probs` (nodes, vocabulary): row `i` is the law that node `i`'s token
    was really drawn from (one-hot where it was chosen rather than drawn). Row 0 of `probs` is not read; `parents[0]` is
    -1.
    """

    tokens: Ints
    parents: tuple[int, ...]
    probs: Floats

    @classmethod
    def chain(cls, root: int, tokens: Ints, probs: Floats) -> DraftTree:
        """One branch: `tokens` (k,) drawn from the rows of `probs` (k, vocabulary)."""
        k = len(tokens)
        blank = np.zeros((1, probs.shape[-1]))
        return cls(np.concatenate(([root], tokens)), chain_parents(k), np.concatenate((blank, probs)))

    @classmethod
    def chains(cls, tokens: Ints, probs: Floats, lengths: Sequence[int]) -> list[DraftTree]:
        """One branch a row: of `tokens` (rows, k + 1), root first, at most the `lengths[row]` after the root."""
        kept = [min(length, tokens.shape[1] - 1) for length in lengths]
        return [cls(tokens[row, : k + 1], chain_parents(k), probs[row, : k + 1]) for row, k in enumerate(kept)]

    @classmethod
    def bare(cls, root: int, vocabulary: int) -> DraftTree:
        """No proposal: the round is an ordinary step."""
        return cls(np.array([root]), (-1,), np.zeros((1, vocabulary)))

    @property
    def drafted(self) -> int:
        """How many tokens are proposed."""
        return len(self.parents) - 1

    def children(self, node: int) -> tuple[int, ...]:
        """The node's children in the order they were drafted."""
        return _children(self.parents)[node]

    @property
    def is_chain(self) -> bool:
        """Whether every node has at most one child."""
        return self.parents == chain_parents(self.drafted)


def ancestry(parents: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """(nodes, nodes): whether the column's node is the row's node or one of its ancestors."""
    seen = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            seen[node] |= seen[parent]
    return seen


def depths(parents: tuple[int, ...]) -> Ints:
    """(nodes,): number of steps from the root."""
    steps: Ints = ancestry(parents).sum(axis=1) - 1
    return steps


@lru_cache(maxsize=4096)
def _children(parents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(c for c, parent in enumerate(parents) if parent == node) for node in range(len(parents)))


@lru_cache(maxsize=256)
def chain_parents(k: int) -> tuple[int, ...]:
    """The parents of a root and a chain of `k` nodes: one object a length, so that comparing them is quick."""
    return tuple(range(-1, k))
