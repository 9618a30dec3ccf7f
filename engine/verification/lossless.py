"""The lossless walk: modified rejection sampling on a draft tree.

Leviathan et al. 2023 (Algorithm 1) and Chen et al. 2023 (Algorithm 2) for a chain; the multi-draft form of SpecInfer
(Miao et al. 2024, Algorithm 2) for siblings. What it emits follows the target's own law, whatever was drafted, as
long as each node states the law its token was really drawn from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..sampling import normalised
from ..tree import ROOT, DraftTree
from .base import Accepted, Guarantee, RowChance, Rule

Floats = npt.NDArray[np.float64]


def accept(tree: DraftTree, probs: Floats, rng: RowChance) -> Accepted:
    """Walk down while children are accepted, then draw one token from what is left of p."""
    path: list[int] = []
    p = probs[ROOT]
    waiting = deque(tree.children(ROOT))
    while waiting:
        child = waiting.popleft()
        token, q = tree.tokens[child], tree.probs[child]
        if rng.uniform(child) * q[token] < p[token]:
            path, p, waiting = [*path, child], probs[child], deque(tree.children(child))
        else:
            p = normalised((p - q).clip(min=0))
    return Accepted(path, rng.draw(p))


class Lossless:
    """The walk, row by row. On chains it is the token rule."""

    guarantee = Guarantee.SAME_LAW
    rule = Rule.MULTI_DRAFT

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One walk a row."""
        return [accept(*row) for row in zip(trees, probs, chances, strict=True)]
