"""Hypothesis strategies for the inputs of samplers: laws as fractions, pairs of them, chains, trees, masks, batches.

What trips samplers is drawn often: zeros, ties, p = q, disjoint supports, one-hot laws, subnormal masses. Fractions
shrink to few tokens and small denominators, so that a failing example can be read. Each strategy is made once, and so
validated once: a search draws from them thousands of times.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import SearchStrategy

Law = tuple[Fraction, ...]
SUBNORMAL = Fraction(1, 2**1070)
"""A mass that float64 can hold only without its leading digit."""


class Chain(NamedTuple):
    """K + 1 laws of the target and K of the draft over the same tokens, the same whatever came before."""

    target: tuple[Law, ...]
    draft: tuple[Law, ...]

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return len(self.target[0])


def normalised(weights: Sequence[int]) -> Law:
    """`weights` as fractions of their sum."""
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@cache
def laws(vocabulary: int, largest: int = 8) -> SearchStrategy[Law]:
    """Laws over so many tokens: fractions with small numerators, zeros and ties among them."""
    weights = st.lists(st.integers(0, largest), min_size=vocabulary, max_size=vocabulary)
    return weights.filter(any).map(normalised)


@cache
def one_hot(vocabulary: int) -> SearchStrategy[Law]:
    """Laws that leave no choice."""
    return st.integers(0, vocabulary - 1).map(lambda token: normalised([int(t == token) for t in range(vocabulary)]))


@cache
def subnormal(vocabulary: int) -> SearchStrategy[Law]:
    """Laws with one mass that is all but lost in float64."""
    return st.permutations([SUBNORMAL, 1 - SUBNORMAL, *[Fraction(0)] * (vocabulary - 2)]).map(tuple)


@cache
def any_law(vocabulary: int) -> SearchStrategy[Law]:
    """Plain laws most of the time, then one-hot and subnormal ones."""
    return st.one_of(laws(vocabulary), one_hot(vocabulary), subnormal(vocabulary))


@st.composite
def disjoint(draw: st.DrawFn, vocabulary: int) -> tuple[Law, Law]:
    """Two laws without a token in common."""
    split = draw(st.integers(1, vocabulary - 1))
    left, right = draw(laws(split)), draw(laws(vocabulary - split))
    order = draw(st.permutations(range(vocabulary)))
    padded = (*left, *[Fraction(0)] * len(right)), (*[Fraction(0)] * len(left), *right)
    return tuple(padded[0][i] for i in order), tuple(padded[1][i] for i in order)


@cache
def law_pairs(vocabulary: int) -> SearchStrategy[tuple[Law, Law]]:
    """A target's and a draft's law: unrelated, the same, or disjoint."""
    free = st.tuples(any_law(vocabulary), any_law(vocabulary))
    same = any_law(vocabulary).map(lambda law: (law, law))
    return st.one_of(free, same, disjoint(vocabulary))


@st.composite
def chains(draw: st.DrawFn, most_tokens: int = 4, longest: int = 3, shortest: int = 0) -> Chain:
    """Laws for a round of up to `longest` drafted tokens; shrinks to few tokens and a short draft."""
    vocabulary, length = draw(st.integers(2, most_tokens)), draw(st.integers(shortest, longest))
    pairs = [draw(law_pairs(vocabulary)) for _ in range(length)]
    return Chain((*(p for p, _ in pairs), draw(any_law(vocabulary))), tuple(q for _, q in pairs))


@st.composite
def trees(draw: st.DrawFn, most_nodes: int = 6) -> tuple[int, ...]:
    """Parents of a draft tree, those of a root with -1 first; parents come before children."""
    nodes = draw(st.integers(1, most_nodes))
    return (-1, *(draw(st.integers(0, node)) for node in range(nodes)))


def masks(vocabulary: int) -> SearchStrategy[tuple[bool, ...]]:
    """Which tokens are allowed; at least one is."""
    return st.lists(st.booleans(), min_size=vocabulary, max_size=vocabulary).filter(any).map(tuple)


def batch_sizes(most: int = 64) -> SearchStrategy[int]:
    """Rows of a call; one row, and numbers that are no power of two, come often."""
    return st.one_of(st.just(1), st.integers(1, most), st.sampled_from([3, 7, 33]).filter(lambda n: n <= most))


def smallest(fails: Callable[[Chain], bool], *, most_examples: int) -> Chain | None:
    """The smallest chain of laws that `fails`, as Hypothesis shrinks it; None where none was met. Repeatable."""
    how = settings(
        max_examples=most_examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    try:
        return find(chains(most_tokens=3, longest=2, shortest=1), fails, settings=how)
    except NoSuchExample:
        return None
