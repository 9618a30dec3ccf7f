"""Plants in the verifier."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ...engine.models.base import Logits
from ...engine.randomness import Floats
from ...engine.request import Sampling
from ...engine.sampling import next_token_probs, normalised
from ...engine.tree import ROOT, DraftTree
from ...engine.verification.base import Accepted, Guarantee, RowChance, Rule
from ..targets.strategies import Strategies


class _SpoiledWalk:
    """The lossless walk with its three decisions exposed, so that a plant may spoil one of them."""

    guarantee = Guarantee.SAME_LAW  # what it says; not what it does
    rule = Rule.MULTI_DRAFT

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One walk a row."""
        return [self.walk(*row) for row in zip(trees, probs, chances, strict=True)]

    def walk(self, tree: DraftTree, probs: Floats, rng: RowChance) -> Accepted:
        """One row; honest but for the decision that a plant overrides."""
        path: list[int] = []
        p = probs[ROOT]
        waiting = deque(tree.children(ROOT))
        while waiting:
            child = waiting.popleft()
            token, q = tree.tokens[child], tree.probs[child]
            if self._keeps(child, rng.uniform(child) * q[token] < p[token]):
                path, p, waiting = [*path, child], probs[child], deque(tree.children(child))
            else:
                p = self._left(p, q)
        return Accepted(path, rng.draw(self._last(tree, probs, path, p)))

    def _keeps(self, child: int, honest: bool) -> bool:  # noqa: FBT001 - the honest answer, to be spoiled
        del child
        return honest

    def _left(self, p: Floats, q: Floats) -> Floats:
        return normalised((p - q).clip(min=0))

    def _last(self, tree: DraftTree, probs: Floats, path: list[int], p: Floats) -> Floats:
        del tree, probs, path
        return p


class ResampleFromTarget(_SpoiledWalk):
    """After a rejection the replacement is drawn from p, not from the residual (F06)."""

    def _left(self, p: Floats, q: Floats) -> Floats:
        del q
        return p


class KeepsTheFirstUnseen(_SpoiledWalk):
    """The first draft token is accepted without a look (F16)."""

    def _keeps(self, child: int, honest: bool) -> bool:  # noqa: FBT001 - see above
        return child == 1 or honest


class BonusFromTheRowBefore(_SpoiledWalk):
    """After a full acceptance the bonus token is drawn from the row before (F17)."""

    def _last(self, tree: DraftTree, probs: Floats, path: list[int], p: Floats) -> Floats:
        full = path and len(path) == tree.drafted
        return probs[path[-1] - 1] if full else p


def unit_temperature(logits: Logits, samplings: Sequence[Sampling]) -> Floats:
    """The target's law at T = 1 without filters, whatever a sampled request asks for (F04)."""
    return next_token_probs(logits, [s if s.temperature == 0 else Sampling(temperature=1.0) for s in samplings])


def resample_from_target(strategies: Strategies) -> Strategies:
    """F06."""
    return replace(strategies, verifier=ResampleFromTarget())


def keep_the_first_unseen(strategies: Strategies) -> Strategies:
    """F16."""
    return replace(strategies, verifier=KeepsTheFirstUnseen())


def bonus_from_the_row_before(strategies: Strategies) -> Strategies:
    """F17."""
    return replace(strategies, verifier=BonusFromTheRowBefore())


def verify_at_unit_temperature(strategies: Strategies) -> Strategies:
    """F04."""
    return replace(strategies, law=unit_temperature)
