"""One round of a rule, enumerated: every draft, every way its uniforms fall, and the law of the last token as it is.

The acceptance function is the engine's own. It is handed a chance that notes what law the last token is drawn from
instead of drawing it; the drafts are drawn outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ....engine.tree import ROOT, DraftTree
from ....engine.verification.base import Accepted
from ....stats.exact import SymbolicRandomness, Text, completed, paths, total_variation
from ....stats.symbolic import exactly
from .cases import ONE, ZERO, Case, Law, Parents, rational

Accept: TypeAlias = Callable[[DraftTree, Any, Any], Accepted]
"""A verifier's function of one row."""
NOT_DRAWN = -1


class Drafting(NamedTuple):
    """How siblings are taken from the law q at their parent.

    `draws(q, earlier)` is the law of the next sibling, or None where nothing is left to take. What the nodes state is
    q itself, or with `states_own` that law.
    """

    draws: Callable[[Law, Sequence[int]], Law | None]
    states_own: bool = True


class Drafted(NamedTuple):
    """One draft that can come, its chance, and the history behind each node."""

    mass: Fraction
    tree: DraftTree
    texts: list[Text]


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of a rule does in one case.

    law: of the emitted texts, completed to K + 1 tokens. accepted: the mean number of accepted tokens. contained: for
    each text, the chance that the draft holds it.
    """

    law: dict[Text, Fraction]
    accepted: Fraction
    contained: dict[Text, Fraction]

    def distance(self, case: Case) -> Fraction:
        """Total variation from the target's own law."""
        return ZERO if self.law == case.joint else total_variation(self.law, case.joint)


def one_round(case: Case, drafting: Drafting, accept: Accept) -> Round:
    """The exact outcome of `accept` on all drafts of the case."""
    emitted: dict[tuple[Text, int], int] = {}
    contained: dict[Text, Fraction] = {}
    accepted = ZERO
    target, _ = case.swift
    for mass, tree, texts in drafts(case, drafting):
        for text in set(texts[1:]):
            contained[text] = contained.get(text, ZERO) + mass
        probs = _stacked([target[text] for text in texts])
        for (path, last), chance in paths(partial(_walk, accept, tree, probs), chance=Noting):
            text = tuple(tree.tokens[path].tolist())
            here = mass * chance
            accepted += here * len(path)
            for token, share in enumerate(last):
                if share:
                    key = (*text, token), here.denominator * share.denominator
                    emitted[key] = emitted.get(key, 0) + here.numerator * share.numerator
    return Round(completed(_by_text(emitted), case.target.__getitem__, length=case.k + 1), accepted, contained)


def _by_text(parts: Mapping[tuple[Text, int], int]) -> dict[Text, Fraction]:
    """The mass of each text from numerators by text and denominator: one fraction for all that share both."""
    law: dict[Text, Fraction] = {}
    for (text, denominator), numerator in parts.items():
        mass = Fraction(numerator, denominator)
        law[text] = law[text] + mass if text in law else mass
    return law


class Noting(SymbolicRandomness):
    """Chance whose `draw` notes the law and draws nothing."""

    noted: Law | None = None

    def draw(self, p: Any, slot: Any = None) -> int:
        """NOT_DRAWN; a second draw in one round is refused."""
        assert slot is None
        if self.noted is not None:
            raise ValueError("the rule draws more than one last token")
        self.noted = p
        return NOT_DRAWN


def _walk(accept: Accept, tree: DraftTree, probs: Law, rng: Noting) -> tuple[list[int], Law]:
    path, last = accept(tree, probs, rng)
    if last != NOT_DRAWN or rng.noted is None:
        return path, rational(ONE if token == last else ZERO for token in range(probs.shape[1]))
    assert sum(rng.noted) == 1
    return path, rng.noted


def drafts(case: Case, drafting: Drafting) -> Iterator[Drafted]:
    """Every draft that can come. Nodes for which nothing is left to take, and what hangs below them, are left out."""
    yield from _grown(case, drafting, _Partial([0], [-1], [()], [case.swift[1][()]], {ROOT: ROOT}), ONE)


class _Partial(NamedTuple):
    """A draft under way; `number` says which node stands at a place of the shape."""

    tokens: list[int]
    parents: list[int]
    texts: list[Text]
    laws: list[Law]
    number: dict[int, int]


def _grown(case: Case, drafting: Drafting, so_far: _Partial, mass: Fraction, place: int = 1) -> Iterator[Drafted]:
    shape: Parents = case.parents
    while place < len(shape) and shape[place] not in so_far.number:
        place += 1
    if place == len(shape):
        tree = DraftTree(np.array(so_far.tokens), tuple(so_far.parents), _stacked(so_far.laws))
        yield Drafted(mass, tree, so_far.texts)
        return
    parent = so_far.number[shape[place]]
    earlier = [token for token, above in zip(so_far.tokens, so_far.parents, strict=True) if above == parent]
    stem = so_far.texts[parent]
    q = case.swift[1][stem]
    law = drafting.draws(q, earlier)
    if law is None:
        yield from _grown(case, drafting, so_far, mass, place + 1)
        return
    for token, chance in enumerate(law):
        if chance:
            grown = _Partial(
                [*so_far.tokens, token],
                [*so_far.parents, parent],
                [*so_far.texts, (*stem, token)],
                [*so_far.laws, law if drafting.states_own else q],
                {**so_far.number, place: len(so_far.tokens)},
            )
            yield from _grown(case, drafting, grown, mass * exactly(chance), place + 1)


def _stacked(laws: Sequence[Law]) -> Law:
    rows: Law = np.array(laws, dtype=object)
    return rows
