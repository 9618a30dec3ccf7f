"""The exact law of a randomised function, proved by walking all its paths in rational arithmetic.

The function is run again and again on symbolic chance. Each comparison with a uniform and each draw is a fork in the
road; every run takes one path, forced up to a point and first-choice after it, until no path is left. Probabilities are
Fractions, so the answer is an identity, not an estimate: a distance of 1e-9 is found like one of 0.9.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from .symbolic import NotEnumerable, Uniform, exactly

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    Laws = Callable[["Text"], Iterable[Any]]

Text: TypeAlias = tuple[int, ...]
Outcome = TypeVar("Outcome", bound="Hashable")
Result = TypeVar("Result")
MOST_PATHS = 1_000_000
"""Paths after which a walk is given up: minutes, and a sign that the function never ends on some path."""
MOST_FORKS = 1_000
"""Forks on one path after which it is given up."""


class Fork(NamedTuple):
    """A place where chance decides: the weight of each way on, and the way taken in this run."""

    weights: tuple[Fraction, ...]
    taken: int


class SymbolicRandomness:
    """The chance handed to the function under test: it decides nothing by itself, every way is taken in some run."""

    def __init__(self, forced: Sequence[Fork], rational: Callable[[Any], Fraction] = exactly) -> None:
        self._forced = forced
        self._uniforms: dict[Hashable, Uniform] = {}
        self.forks: list[Fork] = []
        self.rational = rational

    def uniform(self, slot: Hashable) -> Uniform:
        """The uniform of this slot. The same slot twice is the same number, as with counter-based generators."""
        return self._uniforms.setdefault(slot, Uniform(self))

    def draw(self, p: Iterable[Any], slot: Hashable = None) -> int:
        """An index with law `p`. With a `slot`, by inversion of that slot's uniform, which may have other readers."""
        edges = [Fraction(0)]
        for mass in p:
            part = self.rational(mass)
            if part < 0:
                raise ValueError(f"a draw was asked from a law with the negative entry {mass}")
            edges.append(edges[-1] + part)
        if edges[-1] != 1:
            raise ValueError(f"a draw was asked from entries that sum to {edges[-1]}, not 1; normalise them")
        return (Uniform(self) if slot is None else self.uniform(slot)).cell(edges)

    def choose(self, weights: tuple[Fraction, ...]) -> int:
        """The way this run takes at a fork with these weights; a single way is no fork."""
        if len(weights) == 1:
            return 0
        step = len(self.forks)
        if step == MOST_FORKS:
            raise NotEnumerable(f"more than {MOST_FORKS} forks on one path: does the function end whatever is drawn?")
        fork = self._forced[step] if step < len(self._forced) else Fork(weights, 0)
        if fork.weights != weights:
            raise ValueError("the same choices led elsewhere; the function takes chance from somewhere else than rng")
        self.forks.append(fork)
        return fork.taken


def paths(
    run: Callable[[Any], Result],
    *,
    most_paths: int = MOST_PATHS,
    chance: Callable[[Sequence[Fork]], Any] = SymbolicRandomness,
) -> Iterator[tuple[Result, Fraction]]:
    """What `run` returns on each path, and the chance of that path. `run` must take all its chance from its argument.

    Raises NotEnumerable after `most_paths`. `chance` makes the argument: a SymbolicRandomness or a class built on it.
    """
    forced: list[Fork] = []
    for _ in range(most_paths):
        given, refused = chance(forced), NotEnumerable.made
        result = run(given)
        if NotEnumerable.made != refused:
            raise NotEnumerable(f"{NotEnumerable.latest}; the function swallows that, and goes on without")
        yield result, _mass(given.forks)
        forced = _next_path(given.forks)
        if not forced:
            return
    raise NotEnumerable(f"more than {most_paths} paths; take fewer tokens, a shorter draft or a larger most_paths")


def enumerate_law(
    run: Callable[[SymbolicRandomness], Outcome], *, most_paths: int = MOST_PATHS
) -> dict[Outcome, Fraction]:
    """The exact law of what `run` returns.

    Worked example: `lambda rng: rng.uniform(0) * 3 < 1` -> {True: 1/3, False: 2/3}, for Fractions 3 and 1.
    """
    law: dict[Outcome, Fraction] = {}
    for outcome, mass in paths(run, most_paths=most_paths):
        law[outcome] = law.get(outcome, Fraction(0)) + mass
    assert sum(law.values()) == 1
    return law


def total_variation(law_a: Mapping[Outcome, Fraction], law_b: Mapping[Outcome, Fraction]) -> Fraction:
    """`sum(|a - b|) / 2` over all outcomes of either law; 0 only if they are the same law."""
    none = Fraction(0)
    return sum((abs(law_a.get(x, none) - law_b.get(x, none)) for x in law_a.keys() | law_b.keys()), none) / 2


def joint_law(target: Laws, *, length: int) -> dict[Text, Fraction]:
    """The law of the first `length` tokens that plain decoding emits; `target(history)` is the law of the next one."""
    return completed({(): Fraction(1)}, target, length=length)


def completed(law: Mapping[Text, Fraction], target: Laws, *, length: int) -> dict[Text, Fraction]:
    """`law` over texts of any length made a law over texts of `length` tokens.

    Longer texts are cut; shorter ones go on under the target's own law. Texts that end early for good reasons thus
    compare with the target term by term, and wrong ones are not forgiven.
    """
    ended: list[dict[Text, Fraction]] = [{} for _ in range(length + 1)]
    for text, mass in law.items():
        _add(ended[min(len(text), length)], text[:length], mass)
    for shorter, longer in pairwise(ended):
        for text, mass in shorter.items():
            for token, chance in enumerate(target(text)):
                if chance and mass:
                    _add(longer, (*text, token), mass * chance)
    return {text: mass for text, mass in ended[length].items() if mass}


def _add(law: dict[Text, Fraction], text: Text, mass: Fraction) -> None:
    law[text] = law[text] + mass if text in law else mass


def _next_path(forks: Sequence[Fork]) -> list[Fork]:
    """The choices that force the next untaken path, depth first; empty where all were taken."""
    for step in reversed(range(len(forks))):
        weights, taken = forks[step]
        if taken + 1 < len(weights):
            return [*forks[:step], Fork(weights, taken + 1)]
    return []


def _mass(forks: Sequence[Fork]) -> Fraction:
    mass = Fraction(1)
    for fork in forks:
        mass *= fork.weights[fork.taken]
    return mass
