"""The rules that are proved: an acceptance function of the engine, a way of drafting, and the shapes it is tried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ....engine.verification.base import Rule
from ....engine.verification.block import accept_block
from ....engine.verification.lossless import accept
from ....engine.verification.multi_draft import MultiDraft, chosen, with_replacement, without_replacement
from ....engine.verification.traversal import accept_traversal
from ....stats.ratio import Ratio
from .cases import Law, Parents
from .rounds import Accept, Drafting

Shapes: TypeAlias = tuple[tuple[int, Parents], ...]
CHAINS: Shapes = ((5, (-1, 0)), (5, (-1, 0, 1)), (5, (-1, 0, 1, 2)))
TREES: Shapes = (
    (5, (-1, 0, 0)),
    (5, (-1, 0, 0, 0)),
    (4, (-1, 0, 0, 1)),
    (4, (-1, 0, 1, 1)),
    (3, (-1, 0, 0, 1, 1)),
    (3, (-1, 0, 0, 1, 2)),
    (3, (-1, 0, 0, 1, 3)),
)
"""Shapes with the largest vocabulary each is tried on: wider ones would take minutes a case."""


def drawn(q: Law, earlier: Sequence[int]) -> Law:
    """Each sibling from `q`: duplicates may come, and stay."""
    del earlier
    return q


def drawn_without_replacement(q: Law, earlier: Sequence[int]) -> Law | None:
    """Each sibling from `q` given those before; None once the support is used up."""
    left = q.copy()
    left[list(earlier)] = 0
    total = left.sum()
    return left / total if total else None


def likeliest(q: Law, earlier: Sequence[int]) -> Law | None:
    """The next most probable token, for certain; None once all are taken."""
    if len(earlier) == len(q):
        return None
    ranked = sorted(range(len(q)), key=lambda token: (-q[token], token))
    point: Law = np.full(len(q), Ratio(0, 1))
    point[ranked[len(earlier)]] = Ratio(1, 1)
    return point


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedRule:
    """One line of the proof: what is claimed to emit the target's own law."""

    name: str
    rule: Rule
    accept: Accept
    drafting: Drafting
    shapes: Shapes

    @property
    def beside_token(self) -> bool:
        """Whether it judges drawn chains, on which it must accept at least what the token rule does."""
        return self.shapes == CHAINS


DRAWN, WITHOUT, CHOSEN = Drafting(drawn), Drafting(drawn_without_replacement), Drafting(likeliest)


def _of_parent(drafting: Drafting) -> Drafting:
    """The same draft, whose nodes state the law at their parent."""
    return drafting._replace(states_own=False)


def _rule(rule: Rule, how: str, accept: Accept, drafting: Drafting, shapes: Shapes) -> ProvedRule:
    name = f"{rule}, {how}" if how else str(rule)
    return ProvedRule(name=name, rule=rule, accept=accept, drafting=drafting, shapes=shapes)


_ALL = (
    _rule(Rule.TOKEN, "", accept, DRAWN, CHAINS),
    _rule(Rule.BLOCK, "", accept_block, DRAWN, CHAINS),
    _rule(Rule.MULTI_DRAFT, "with replacement", MultiDraft(with_replacement).accept, _of_parent(DRAWN), TREES),
    _rule(Rule.MULTI_DRAFT, "without replacement", MultiDraft(without_replacement).accept, _of_parent(WITHOUT), TREES),
    _rule(Rule.MULTI_DRAFT, "chosen", MultiDraft(chosen).accept, _of_parent(CHOSEN), TREES),
    _rule(Rule.TRAVERSAL, "chains", accept_traversal, DRAWN, CHAINS),
    _rule(Rule.TRAVERSAL, "with replacement", accept_traversal, DRAWN, TREES),
    _rule(Rule.TRAVERSAL, "without replacement", accept_traversal, WITHOUT, TREES),
    _rule(Rule.TRAVERSAL, "chosen", accept_traversal, CHOSEN, TREES),
)
RULES = {proved.name: proved for proved in _ALL}
