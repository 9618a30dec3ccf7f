"""Block verification of a chain: the drafted tokens are judged together, so that more of them are kept.

Sun et al. 2024 (2403.10444, Algorithm 2). The law of what is emitted is the target's; the tokens must be drawn one
after the other from the laws that their nodes state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..sampling import normalised
from ..tree import ROOT, DraftTree
from .base import Accepted, Guarantee, RowChance, Rule

Floats = npt.NDArray[np.float64]


def accept_block(tree: DraftTree, probs: Floats, rng: RowChance) -> Accepted:
    """The longest prefix that its uniform keeps, then one token drawn from what is left of p behind it.

    weight[0] = 1, weight[i] = min(1, weight[i-1] * p[i](x[i]) / q[i](x[i])). The whole draft is kept with chance
    weight[k]; its first i < k tokens, if no longer prefix is, with chance R / (R + 1 - weight[i]), where R is the mass
    of (weight[i] * p - q).clip(min=0) for the token after them. The root is always kept: its weight is 1.
    """
    weights: list[float] = [1]
    for node in range(1, len(tree.parents)):
        token, q = tree.tokens[node], tree.probs[node]
        weights.append(min(1, weights[-1] * probs[node - 1][token] / q[token]))
    node, kept, left = tree.drafted, weights[-1], probs[-1]
    while node != ROOT and not rng.uniform(node) < kept:
        node -= 1
        left = (weights[node] * probs[node] - tree.probs[node + 1]).clip(min=0)
        kept = _share(left.sum(), weights[node])
    return Accepted(list(range(1, node + 1)), rng.draw(normalised(left)))


def _share(mass: float, weight: float) -> float:
    """The chance to keep a prefix of this weight that `mass` is left behind, once all longer ones were refused."""
    return mass / (mass + (1 - weight)) if mass else 0


class Block:
    """Block verification, row by row."""

    guarantee = Guarantee.SAME_LAW
    rule = Rule.BLOCK

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One outcome a row. Raises ValueError for a tree that branches."""
        if not all(tree.is_chain for tree in trees):
            raise ValueError("Block takes chains only; use Traversal for trees that branch")
        return [accept_block(*row) for row in zip(trees, probs, chances, strict=True)]
