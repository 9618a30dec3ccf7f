"""The exact law of a randomised function, proved by walking all its paths in rational arithmetic.

The function is run again and again on symbolic chance. Each comparison with a uniform and each draw is a fork in the
road; every run takes one path, forced up to a point and first-choice after it, until no path is left. Probabilities are
Fractions, so the answer is an identity, not an estimate: a distance of 1e-9 is found like one of 0.9.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    Text = tuple[int, ...]
    Laws = Callable[[Text], Sequence[Fraction]]

Outcome = TypeVar("Outcome", bound="Hashable")
MOST_PATHS = 1_000_000
"""Paths after which a walk is given up: minutes, and a sign that the function never ends on some path."""


class _Fork(NamedTuple):
    """A place where chance decides: the weight of each way on, and the way taken in this run."""

    weights: tuple[Fraction, ...]
    taken: int


class Uniform:
    """A number uniform on [0, 1) of which only an interval is known. Comparing it narrows the interval."""

    def __init__(self, chance: SymbolicRandomness) -> None:
        self._chance = chance
        self._low, self._high = Fraction(0), Fraction(1)

    def cell(self, edges: Sequence[Fraction]) -> int:
        """Which of the intervals between neighbouring `edges` the number lies in: one fork, each way exactly likely."""
        parts = [(max(a, self._low), min(b, self._high)) for a, b in pairwise(edges)]
        inside = [index for index, (a, b) in enumerate(parts) if a < b]
        width = self._high - self._low
        way = self._chance.choose(tuple((parts[i][1] - parts[i][0]) / width for i in inside))
        self._low, self._high = parts[inside[way]]
        return inside[way]

    def __lt__(self, bound: Any) -> bool:
        edge = min(max(_fraction(bound), Fraction(0)), Fraction(1))
        return self.cell((Fraction(0), edge, Fraction(1))) == 0

    __le__ = __lt__  # a single point has no mass

    def __gt__(self, bound: Any) -> bool:
        return not self < bound

    __ge__ = __gt__

    def __mul__(self, factor: Any) -> Scaled:
        return Scaled(self, _fraction(factor))

    __rmul__ = __mul__


class Scaled:
    """`U * factor` for a non-negative factor: what acceptance rules compare with p."""

    def __init__(self, uniform: Uniform, factor: Fraction) -> None:
        if factor < 0:
            raise ValueError(f"a uniform was multiplied with {factor}; probabilities are not negative")
        self._uniform, self._factor = uniform, factor

    def __lt__(self, bound: Any) -> bool:
        return self._uniform < _fraction(bound) / self._factor if self._factor else _fraction(bound) > 0

    def __le__(self, bound: Any) -> bool:
        return self._uniform < _fraction(bound) / self._factor if self._factor else _fraction(bound) >= 0

    def __gt__(self, bound: Any) -> bool:
        return not self <= bound

    def __ge__(self, bound: Any) -> bool:
        return not self < bound


class SymbolicRandomness:
    """The chance handed to the function under test: it decides nothing by itself, every way is taken in some run."""

    def __init__(self, forced: Sequence[_Fork]) -> None:
        self._forced = forced
        self._uniforms: dict[Hashable, Uniform] = {}
        self.forks: list[_Fork] = []

    def uniform(self, slot: Hashable) -> Uniform:
        """The uniform of this slot. The same slot twice is the same number, as with counter-based generators."""
        return self._uniforms.setdefault(slot, Uniform(self))

    def draw(self, p: Iterable[Any], slot: Hashable = None) -> int:
        """An index with law `p`. With a `slot`, by inversion of that slot's uniform, which may have other readers."""
        edges = [Fraction(0)]
        for mass in p:
            if _fraction(mass) < 0:
                raise ValueError(f"a draw was asked from a law with the negative entry {mass}")
            edges.append(edges[-1] + _fraction(mass))
        if edges[-1] != 1:
            raise ValueError(f"a draw was asked from entries that sum to {edges[-1]}, not 1; normalise them")
        return (Uniform(self) if slot is None else self.uniform(slot)).cell(edges)

    def choose(self, weights: tuple[Fraction, ...]) -> int:
        """The way this run takes at a fork with these weights; a single way is no fork."""
        if len(weights) == 1:
            return 0
        step = len(self.forks)
        fork = self._forced[step] if step < len(self._forced) else _Fork(weights, 0)
        if fork.weights != weights:
            raise ValueError("the same choices led elsewhere; the function takes chance from somewhere else than rng")
        self.forks.append(fork)
        return fork.taken


def enumerate_law(
    run: Callable[[SymbolicRandomness], Outcome], *, most_paths: int = MOST_PATHS
) -> dict[Outcome, Fraction]:
    """The exact law of what `run` returns. `run` must take all its chance from its argument.

    Worked example: `lambda rng: rng.uniform(0) * 3 < 1` -> {True: 1/3, False: 2/3}, for Fractions 3 and 1.
    """
    law: dict[Outcome, Fraction] = {}
    forced: list[_Fork] = []
    for _ in range(most_paths):
        chance = SymbolicRandomness(forced)
        outcome = run(chance)
        law[outcome] = law.get(outcome, Fraction(0)) + _mass(chance.forks)
        forced = _next_path(chance.forks)
        if not forced:
            assert sum(law.values()) == 1
            return law
    raise ValueError(f"more than {most_paths} paths; take fewer tokens, a shorter draft or a larger most_paths")


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
    full: dict[Text, Fraction] = {}
    for text, mass in law.items():
        for whole, chance in _continuations(text[:length], target, length):
            full[whole] = full.get(whole, Fraction(0)) + mass * chance
    return {text: mass for text, mass in full.items() if mass}


def _continuations(text: Text, target: Laws, length: int) -> list[tuple[Text, Fraction]]:
    ends = [(text, Fraction(1))]
    for _ in range(length - len(text)):
        ends = [
            ((*prefix, token), chance * mass)
            for prefix, chance in ends
            for token, mass in enumerate(target(prefix))
            if mass
        ]
    return ends


def _next_path(forks: Sequence[_Fork]) -> list[_Fork]:
    """The choices that force the next untaken path, depth first; empty where all were taken."""
    for step in reversed(range(len(forks))):
        weights, taken = forks[step]
        if taken + 1 < len(weights):
            return [*forks[:step], _Fork(weights, taken + 1)]
    return []


def _mass(forks: Sequence[_Fork]) -> Fraction:
    mass = Fraction(1)
    for fork in forks:
        mass *= fork.weights[fork.taken]
    return mass


def _fraction(number: Any) -> Fraction:
    """`number` as a Fraction; floats are refused: rounded to floats, a law no longer sums to 1."""
    if isinstance(number, Fraction):
        return number
    if not isinstance(number, Integral):
        raise TypeError(f"{number!r} is no rational number; exact enumeration takes Fractions and whole numbers only")
    return Fraction(int(number))
