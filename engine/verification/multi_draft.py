"""The multi-draft rule for drafts that report one law a parent: the laws its children were really drawn from.

SpecInfer (Miao et al. 2024, 2305.09781, Algorithm 2) and EAGLE report the draft model's law q at each parent. How the
children were taken from it decides what each may claim: drawn with replacement, q itself; without, q given the siblings
before; chosen (top-k), a point mass. With that, `lossless.accept` is the rule. Duplicates that were drawn stay, in the
order of drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..sampling import normalised
from ..tree import DraftTree
from .base import Accepted, Guarantee, RowChance, Rule
from .lossless import accept

Floats = npt.NDArray[np.float64]
SiblingLaw = Callable[[Floats, Sequence[int], int], Floats]
"""From the law at the parent, the tokens of the siblings before and the own token: the law that one was drawn from."""


def with_replacement(q: Floats, earlier: Sequence[int], token: int) -> Floats:
    """`q` again; the same token may come twice."""
    del earlier, token
    return q


def without_replacement(q: Floats, earlier: Sequence[int], token: int) -> Floats:
    """`q` given that none of the `earlier` tokens comes. Raises ZeroDivisionError where nothing is left to draw."""
    del token
    left = q.copy()
    left[list(earlier)] = 0
    return normalised(left)


def chosen(q: Floats, earlier: Sequence[int], token: int) -> Floats:
    """A point mass on `token`, which was taken for certain; on nothing where it was taken before."""
    point = np.zeros_like(q)
    point[token] = int(token not in earlier)
    return point


def stated(tree: DraftTree, sibling_law: SiblingLaw) -> DraftTree:
    """`tree`, whose nodes hold the law at their parent, with the laws that the tokens were drawn from instead.

    Raises ValueError for a token that cannot have been drawn, such as a repeated one where nothing is replaced.
    """
    laws = tree.probs.copy()
    for parent in range(len(tree.parents)):
        earlier: list[int] = []
        for child in tree.children(parent):
            token = int(tree.tokens[child])
            laws[child] = sibling_law(tree.probs[child], earlier, token)
            if not laws[child][token] > 0:
                raise ValueError(f"node {child} holds token {token}, which cannot have been drawn after {earlier}")
            earlier.append(token)
    return replace(tree, probs=laws)


@dataclass(frozen=True, slots=True)
class MultiDraft:
    """The multi-draft rule, row by row, for trees that hold the law at the parent in every child's row."""

    sibling_law: SiblingLaw

    guarantee = Guarantee.SAME_LAW
    rule = Rule.MULTI_DRAFT

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One walk a row."""
        return [self.accept(*row) for row in zip(trees, probs, chances, strict=True)]

    def accept(self, tree: DraftTree, probs: Floats, rng: RowChance) -> Accepted:
        """One row."""
        return accept(stated(tree, self.sibling_law), probs, rng)
