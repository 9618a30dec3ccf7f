"""Plants in what requests share that they must not: a drafter's memory, a slot's state, a call's leftovers.

None of them changes a token: the target judges every draft. What shows is that a request's rounds depend on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...engine.drafters.base import Drafter, Situation
from ...engine.drafters.draft_model import DraftModel
from ...engine.sampling import one_hot
from ...engine.tree import DraftTree
from ..targets.strategies import Strategies

GRAM = 2  # tokens by which the shared table looks up what once followed


class OneTableForAll:
    """What once followed two tokens, in anybody's text, is drafted before what the drafter says (F58)."""

    def __init__(self, inner: Drafter) -> None:
        self._inner = inner
        self.length = inner.length
        self._table: dict[tuple[int, ...], int] = {}
        self._taken: list[bool] = []

    def begin(self, rows: int) -> None:
        """The table outlives its requests."""
        self._inner.begin(rows)

    def draft(self, situation: Situation) -> list[DraftTree]:
        """The inner drafter's trees, those rows aside for which the table knows as many tokens."""
        trees = self._inner.draft(situation)
        known = [
            self._followers(context, tree.drafted) for context, tree in zip(situation.contexts, trees, strict=True)
        ]
        for context in situation.contexts:
            for end in range(GRAM, len(context)):
                self._table[tuple(context[end - GRAM : end])] = context[end]
        self._taken = [tree.drafted == len(tokens) > 0 for tree, tokens in zip(trees, known, strict=True)]
        return [
            DraftTree.chain(int(tree.tokens[0]), np.array(tokens), one_hot(np.array(tokens), tree.probs.shape[1]))
            if taken
            else tree
            for tree, tokens, taken in zip(trees, known, self._taken, strict=True)
        ]

    def observe(self, accepted: Sequence[int]) -> None:
        """Of a row that the table drafted for, nothing of the inner drafter's was kept."""
        pairs = zip(accepted, self._taken, strict=True)
        self._inner.observe([0 if taken else count for count, taken in pairs])

    def select(self, rows: Sequence[int]) -> None:
        """Keeps these rows."""
        self._inner.select(rows)

    def join(self, rows: int) -> None:
        """More rows."""
        self._inner.join(rows)

    def _followers(self, context: Sequence[int], most: int) -> list[int]:
        found, tail = list[int](), list(context[-GRAM:])
        while len(found) < most and (token := self._table.get(tuple(tail[-GRAM:]))) is not None:
            found.append(token)
            tail.append(token)
        return found


class DraftsFromRowZero(DraftModel):
    """Every row is drafted for from the first row's state (F65)."""

    def draft(self, situation: Situation) -> list[DraftTree]:
        """The first row's tokens behind every row's root, with the law that they were drawn from."""
        trees = super().draft(situation)
        first, limits = trees[0], situation.limits
        return [
            DraftTree.chain(int(tree.tokens[0]), first.tokens[1 : 1 + limit], first.probs[1 : 1 + limit])
            if row and min(limit, first.drafted) > 0
            else tree
            for row, (tree, limit) in enumerate(zip(trees, limits, strict=True))
        ]

    def observe(self, accepted: Sequence[int]) -> None:
        """Only the first row's drafts are its own."""
        super().observe([count if row == 0 else 0 for row, count in enumerate(accepted)])


class KeepsTheCallBefore(DraftModel):
    """When all requests of a call are gone their rows stay, and those of the next call go on from them (F68)."""

    _stale = False

    def select(self, rows: Sequence[int]) -> None:
        """The last rows are kept when nobody is left."""
        self._stale = not rows
        if rows:
            super().select(rows)

    def draft(self, situation: Situation) -> list[DraftTree]:
        """New requests take over the rows that are there, as far as these go."""
        if self._stale:
            rows = min(len(self._cache.lengths), len(situation.contexts))
            self._cache.select(range(rows))
            most = np.array([len(context) - 1 for context in situation.contexts[:rows]])
            self._cache.rewind(np.minimum(self._cache.lengths, most))
            self._stale = False
        return super().draft(situation)


def one_table_for_all(strategies: Strategies) -> Strategies:
    """F58."""
    return replace(strategies, drafter=OneTableForAll)


def draft_from_row_zero(strategies: Strategies) -> Strategies:
    """F65."""
    return replace(strategies, draft_model=DraftsFromRowZero)


def keep_the_call_before(strategies: Strategies) -> Strategies:
    """F68."""
    return replace(strategies, draft_model=KeepsTheCallBefore)
