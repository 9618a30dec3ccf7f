"""The lossless walk on many chains at once: `lossless.accept` draw for draw, without a loop over rows.

Chains may differ in length. Trees are refused: they take the walk itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..sampling import draw, normalised
from ..tree import DraftTree
from .base import Accepted, Guarantee, RowChance, Rule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


Number = TypeVar("Number", np.int64, np.float64)


class Chains(NamedTuple):
    """Chains padded to one depth k; node 0 is the root.

    tokens (rows, k + 1), draft_probs and target_probs (rows, k + 1, vocabulary), accept (rows, k + 1), lengths and
    final (rows,): how many tokens were drafted, and the uniform of the last token.
    """

    tokens: Ints
    draft_probs: Floats
    target_probs: Floats
    accept: Floats
    lengths: Ints
    final: Floats


class Walked(NamedTuple):
    """How many tokens of each chain were accepted, and the token drawn after them; both (rows,)."""

    accepted: Ints
    last: Ints


def accept_chains(chains: Chains) -> Walked:
    """Modified rejection sampling, one pass over depth. Row for row what `lossless.accept` returns."""
    rows = np.arange(len(chains.lengths))
    accepted = np.zeros(len(rows), np.int64)
    left = chains.target_probs[:, 0].copy()
    for node in range(1, chains.tokens.shape[1]):
        alive = rows[(accepted == node - 1) & (chains.lengths >= node)]
        tokens, q = chains.tokens[alive, node], chains.draft_probs[alive, node]
        kept = chains.accept[alive, node] * q[np.arange(len(alive)), tokens] < left[alive, tokens]
        left[alive[~kept]] = normalised((left[alive] - q).clip(min=0)[~kept])
        left[alive[kept]] = chains.target_probs[alive[kept], node]
        accepted[alive[kept]] = node
    return Walked(accepted, draw(left, chains.final))


def padded(trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]) -> Chains:
    """Chains of different lengths in arrays of one shape."""
    lengths = np.array([tree.drafted for tree in trees])
    width = int(lengths.max(initial=0)) + 1
    return Chains(
        tokens=_stack([tree.tokens for tree in trees], width),
        draft_probs=_stack([tree.probs for tree in trees], width),
        target_probs=_stack(probs, width),
        accept=_stack([chance.accept for chance in chances], width),
        lengths=lengths,
        final=np.array([chance.final for chance in chances]),
    )


def _stack(arrays: Sequence[npt.NDArray[Number]], width: int) -> npt.NDArray[Number]:
    if all(len(array) == width for array in arrays):
        return np.stack(arrays)
    out = np.zeros((len(arrays), width, *arrays[0].shape[1:]), arrays[0].dtype)
    for row, array in enumerate(arrays):
        out[row, : min(len(array), width)] = array[:width]
    return out


class BatchedLossless:
    """The walk for batches of chains, vectorised over rows."""

    guarantee = Guarantee.SAME_LAW
    rule = Rule.TOKEN

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One outcome a row, equal to the walk's. Raises ValueError for a tree that branches."""
        if not all(tree.is_chain for tree in trees):
            raise ValueError("BatchedLossless takes chains only; use Lossless for trees that branch")
        walked = accept_chains(padded(trees, probs, chances))
        return [Accepted(list(range(1, n + 1)), int(t)) for n, t in zip(walked.accepted, walked.last, strict=True)]
