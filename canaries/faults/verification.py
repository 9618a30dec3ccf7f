"""Plants in the verifier."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ...engine.randomness import Floats
from ...engine.tree import ROOT, DraftTree
from ...engine.verification.base import Accepted, Guarantee, RowChance
from ..targets.strategies import Strategies


class ResampleFromTarget:
    """After a rejection the replacement is drawn from p, not from the residual (F06)."""

    guarantee = Guarantee.SAME_LAW  # what it says; not what it does

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """The walk without its residual."""
        return [self._walk(*row) for row in zip(trees, probs, chances, strict=True)]

    @staticmethod
    def _walk(tree: DraftTree, probs: Floats, rng: RowChance) -> Accepted:
        path: list[int] = []
        p = probs[ROOT]
        waiting = deque(tree.children(ROOT))
        while waiting:
            child = waiting.popleft()
            token, q = tree.tokens[child], tree.probs[child]
            if rng.uniform(child) * q[token] < p[token]:
                path, p, waiting = [*path, child], probs[child], deque(tree.children(child))
        return Accepted(path, rng.draw(p))


def resample_from_target(strategies: Strategies) -> Strategies:
    """F06."""
    return replace(strategies, verifier=ResampleFromTarget())
