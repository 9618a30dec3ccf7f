"""Traversal verification: block verification of a tree, from the leaves up.

Weng et al. 2025 (2505.12398, Algorithm 2). A node is looked at after all of its children were refused; what they leave
of its law and of its chance is handed back to it. On a chain it keeps what block verification keeps, draw for draw.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..sampling import normalised
from ..tree import ROOT, DraftTree
from .base import Accepted, Guarantee, RowChance, Rule

Floats = npt.NDArray[np.float64]


def accept_traversal(tree: DraftTree, probs: Floats, rng: RowChance) -> Accepted:
    """The first node, leaves before parents and siblings in draft order, that its uniform keeps, and what follows it.

    A node of weight w and law p owes the output w * p. Its child x, drawn from q, pays min(q, w * p) of it with the
    weight min(1, w * p(x) / q(x)); if x is refused, R = (w * p - q).clip(min=0) is still owed, by a node that is
    reached less often: its weight becomes R.sum() / (R.sum() + 1 - w), its law R made to sum to 1. The root's weight
    stays 1.
    """

    def visit(node: int, weight: float) -> Accepted | None:
        p = probs[node]
        for child in tree.children(node):
            token, q = tree.tokens[child], tree.probs[child]
            found = visit(child, min(1, weight * p[token] / q[token]))
            if found:
                return Accepted([child, *found.path], found.last)
            left = (weight * p - q).clip(min=0)
            mass = left.sum()
            if node != ROOT and not mass:
                return None
            weight, p = mass / (mass + (1 - weight)) if node != ROOT else 1, normalised(left)
        return Accepted([], rng.draw(p)) if node == ROOT or rng.uniform(node) < weight else None

    outcome = visit(ROOT, 1)
    assert outcome is not None
    return outcome


class Traversal:
    """Traversal verification, row by row."""

    guarantee = Guarantee.SAME_LAW
    rule = Rule.TRAVERSAL

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One outcome a row."""
        return [accept_traversal(*row) for row in zip(trees, probs, chances, strict=True)]
