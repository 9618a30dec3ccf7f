"""Small cases in rational numbers: two laws that depend on the whole history, and the shape of a draft.

Case `index` of a seed is the same whoever asks for it and whichever cases were made before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ....engine.tree import depths
from ....stats.exact import Text, joint_law
from ....stats.ratio import ratios

Law: TypeAlias = npt.NDArray[Any]
"""(V,) Fractions that sum to 1, an array of objects."""
Parents: TypeAlias = tuple[int, ...]

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Case:
    """The target's and the draft's law after every history that a draft of this shape can meet.

    `target` holds histories of up to K tokens, `draft` of fewer than K, K being the depth of the shape. `parents` is
    that of a DraftTree.
    """

    vocabulary: int
    parents: Parents
    target: Mapping[Text, Law]
    draft: Mapping[Text, Law]

    @cached_property
    def k(self) -> int:
        """The depth of the draft: the most tokens that can be accepted."""
        return int(depths(self.parents).max())

    @cached_property
    def joint(self) -> dict[Text, Fraction]:
        """What plain decoding emits: the law of the first K + 1 tokens."""
        return joint_law(self.target.__getitem__, length=self.k + 1)

    @cached_property
    def prefixes(self) -> dict[Text, Fraction]:
        """The chance that plain decoding begins with a text, for texts of 1 to K tokens."""
        starts: dict[Text, Fraction] = {}
        for text, mass in self.joint.items():
            for length in range(1, self.k + 1):
                starts[text[:length]] = starts.get(text[:length], ZERO) + mass
        return starts

    @cached_property
    def swift(self) -> tuple[dict[Text, Law], dict[Text, Law]]:
        """Target and draft as Ratios, for the walk."""
        target, draft = ({text: ratios(law) for text, law in laws.items()} for laws in (self.target, self.draft))
        return target, draft

    def to_json(self) -> dict[str, Any]:
        """Plain values; fractions as text."""
        return {
            "vocabulary": self.vocabulary,
            "parents": list(self.parents),
            "target": [[list(text), list(map(str, law))] for text, law in self.target.items()],
            "draft": [[list(text), list(map(str, law))] for text, law in self.draft.items()],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Case:
        """The case that `to_json` wrote."""
        laws = [{tuple(text): rational(map(Fraction, law)) for text, law in document[of]} for of in ("target", "draft")]
        return cls(document["vocabulary"], tuple(document["parents"]), *laws)


def rational(masses: Any) -> Law:
    """An array of Fractions."""
    listed = list(masses)
    law = np.empty(len(listed), dtype=object)
    law[:] = listed
    return law


def histories(vocabulary: int, length: int) -> list[Text]:
    """All texts of fewer than `length` tokens, shortest first."""
    return [text for n in range(length) for text in product(range(vocabulary), repeat=n)]


def random_case(seed: int, index: int, shapes: Sequence[tuple[int, Parents]]) -> Case:
    """Case `index`: one of the (largest vocabulary, parents) of `shapes`, and laws of one of the KINDS."""
    rng = np.random.default_rng([seed, index])
    largest, parents = shapes[int(rng.integers(len(shapes)))]
    vocabulary = int(rng.integers(2, largest + 1, size=2).min())  # a case of 5 tokens costs as much as 30 of 2
    k = int(depths(parents).max())
    pair = KINDS[index % len(KINDS)]
    target: dict[Text, Law] = {}
    draft: dict[Text, Law] = {}
    for history in histories(vocabulary, k + 1):
        target[history], law = pair(rng, vocabulary)
        if len(history) < k:
            draft[history] = law
    return Case(vocabulary, parents, target, draft)


def _from_weights(weights: npt.NDArray[np.int64]) -> Law:
    whole = int(weights.sum())
    return rational(Fraction(int(weight), whole) for weight in weights)


def _few(rng: np.random.Generator, vocabulary: int) -> Law:
    """Small weights: zeros, ties and point masses are common."""
    weights = rng.integers(0, 4, size=vocabulary)
    weights[rng.integers(vocabulary)] += 1
    return _from_weights(weights)


def _any(rng: np.random.Generator, vocabulary: int) -> Law:
    """Weights that have nothing in common."""
    return _from_weights(rng.integers(1, 1000, size=vocabulary))


def _point(rng: np.random.Generator, vocabulary: int) -> Law:
    return _from_weights(np.eye(vocabulary, dtype=np.int64)[rng.integers(vocabulary)])


def _equal(rng: np.random.Generator, vocabulary: int) -> tuple[Law, Law]:
    law = _few(rng, vocabulary)
    return law, law


def _disjoint(rng: np.random.Generator, vocabulary: int) -> tuple[Law, Law]:
    """No token is possible under both."""
    sides = rng.permutation(vocabulary) < rng.integers(1, vocabulary)
    weights = rng.integers(1, 4, size=vocabulary)
    return _from_weights(weights * sides), _from_weights(weights * ~sides)


def _tied(rng: np.random.Generator, vocabulary: int) -> tuple[Law, Law]:
    """The same weights in another order."""
    law = _few(rng, vocabulary)
    return law, law[rng.permutation(vocabulary)]


Pair: TypeAlias = Callable[[np.random.Generator, int], tuple[Law, Law]]
KINDS: tuple[Pair, ...] = (
    lambda rng, v: (_few(rng, v), _few(rng, v)),
    lambda rng, v: (_any(rng, v), _any(rng, v)),
    _equal,
    _disjoint,
    _tied,
    lambda rng, v: (_point(rng, v), _few(rng, v)),
    lambda rng, v: (_few(rng, v), _point(rng, v)),
    lambda rng, v: (_any(rng, v), _few(rng, v)),
)
"""Pairs (p, q) that the laws of a case are made of: random, generic, equal, disjoint, tied, greedy, chosen, mixed."""
