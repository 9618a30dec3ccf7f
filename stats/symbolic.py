"""Random numbers of which only as much is known as was asked: what a sampler is handed to be enumerated.

A comparison with a known number is a fork in the road, taken both ways by `exact.paths`; everything that would need the
number itself raises NotEnumerable. Uniforms may be shifted and scaled. Exponentials (-log U) may be scaled, inverted,
logged and compared with each other (`races`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .races import LogUniform

ZERO, ONE = Fraction(0), Fraction(1)


class NotEnumerable(ValueError):
    """The function does with chance what cannot be followed exactly. It says nothing about right or wrong."""


def by_element(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`operator`, which leaves arrays to numpy: it comes back with their elements, one by one."""

    def left_to_numpy(symbol: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else operator(symbol, other)

    return left_to_numpy


class Chance(Protocol):
    """Where symbols ask: which way to go, and what a known number is as a fraction."""

    def choose(self, weights: tuple[Fraction, ...]) -> int:
        """The way this run takes at a fork with these weights."""

    def rational(self, number: Any) -> Fraction:
        """`number` as a fraction, or TypeError."""


class Symbol:
    """A number that is not known; whatever would need it raises NotEnumerable."""

    def _refuse(self, what: str) -> NoReturn:
        raise NotEnumerable(f"the sampler takes {what} of a random number; only comparisons can be enumerated")

    def __bool__(self) -> bool:  # noqa: PLE0304 - raises
        self._refuse("the truth value")

    def __float__(self) -> float:
        self._refuse("the value")

    def __index__(self) -> int:  # noqa: PLE0305 - raises
        self._refuse("the value")

    __int__ = __trunc__ = __floor__ = __ceil__ = __round__ = __index__

    def __le__(self, bound: Any) -> bool:
        return self < bound  # a single point has no mass

    def __ge__(self, bound: Any) -> bool:
        return self > bound

    def __lt__(self, bound: Any) -> bool:
        self._refuse("an unknown comparison")

    def __gt__(self, bound: Any) -> bool:
        self._refuse("an unknown comparison")


class Uniform(Symbol):
    """A number uniform on [0, 1) of which only an interval is known. Comparing it narrows the interval."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self._low, self._high = ZERO, ONE
        self._spent = False

    def cell(self, edges: Sequence[Fraction]) -> int:
        """Which of the intervals between neighbouring `edges` the number lies in: one fork, each way exactly likely."""
        if self._spent:
            raise NotEnumerable("the sampler compares a uniform whose logarithm it uses too")
        parts = [(max(a, self._low), min(b, self._high)) for a, b in pairwise(edges)]
        inside = [index for index, (a, b) in enumerate(parts) if a < b]
        width = self._high - self._low
        way = self.chance.choose(tuple((parts[i][1] - parts[i][0]) / width for i in inside))
        self._low, self._high = parts[inside[way]]
        return inside[way]

    def below(self, edge: Fraction) -> bool:
        """Whether the number is below `edge`."""
        if not self._low < edge < self._high and not self._spent:
            return edge >= self._high
        return self.cell((ZERO, edge, ONE)) == 0

    @by_element
    def __lt__(self, bound: Any) -> bool:
        return self._line() < bound

    @by_element
    def __gt__(self, bound: Any) -> bool:
        return self._line() > bound

    @by_element
    def __add__(self, other: Any) -> Affine:
        return self._line() + other

    @by_element
    def __sub__(self, other: Any) -> Affine:
        return self._line() - other

    @by_element
    def __rsub__(self, other: Any) -> Affine:
        return other - self._line()

    @by_element
    def __mul__(self, factor: Any) -> Affine:
        return self._line() * factor

    @by_element
    def __truediv__(self, divisor: Any) -> Affine:
        return self._line() / divisor

    __radd__, __rmul__ = __add__, __mul__

    def log(self) -> LogUniform:
        """Its logarithm, of which only the negative can be used: an exponential."""
        from .races import Exponential, LogUniform

        if (self._low, self._high) != (ZERO, ONE) or self._spent:
            raise NotEnumerable("the sampler takes the logarithm of a uniform that it used before")
        self._spent = True
        return LogUniform(Exponential(self.chance))

    def _line(self) -> Affine:
        return Affine(self, ONE, ZERO)


class Affine(Symbol):
    """`factor * U + shift`: what acceptance rules compare with p."""

    def __init__(self, uniform: Uniform, factor: Fraction, shift: Fraction) -> None:
        self._uniform, self._factor, self._shift = uniform, factor, shift

    @by_element
    def __add__(self, other: Any) -> Affine:
        return Affine(self._uniform, self._factor, self._shift + self._known(other))

    __radd__ = __add__

    @by_element
    def __sub__(self, other: Any) -> Affine:
        return Affine(self._uniform, self._factor, self._shift - self._known(other))

    @by_element
    def __rsub__(self, other: Any) -> Affine:
        return Affine(self._uniform, -self._factor, self._known(other) - self._shift)

    @by_element
    def __mul__(self, factor: Any) -> Affine:
        by = self._known(factor)
        return Affine(self._uniform, self._factor * by, self._shift * by)

    __rmul__ = __mul__

    @by_element
    def __truediv__(self, divisor: Any) -> Affine:
        by = self._known(divisor)
        return Affine(self._uniform, self._factor / by, self._shift / by)

    @by_element
    def __lt__(self, bound: Any) -> bool:
        return bool(bound > 0) if _beyond(bound) else self._less(self._known(bound), at_equal=False)

    @by_element
    def __le__(self, bound: Any) -> bool:
        return bool(bound > 0) if _beyond(bound) else self._less(self._known(bound), at_equal=True)

    @by_element
    def __gt__(self, bound: Any) -> bool:
        return bool(bound < 0) if _beyond(bound) else not self._less(self._known(bound), at_equal=True)

    @by_element
    def __ge__(self, bound: Any) -> bool:
        return bool(bound < 0) if _beyond(bound) else not self._less(self._known(bound), at_equal=False)

    def _less(self, bound: Fraction, *, at_equal: bool) -> bool:
        if not self._factor:
            return self._shift < bound or (at_equal and self._shift == bound)
        below = self._uniform.below((bound - self._shift) / self._factor)
        return below if self._factor > 0 else not below

    def _known(self, number: Any) -> Fraction:
        if isinstance(number, Symbol):
            raise NotEnumerable("the sampler combines two random numbers in one comparison")
        return self._uniform.chance.rational(number)


def exactly(number: Any) -> Fraction:
    """`number` as a Fraction; floats are refused: rounded to floats, a law no longer sums to 1."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, Integral):
        return Fraction(int(number))
    raise TypeError(f"{number!r} is no rational number; exact enumeration takes Fractions and whole numbers only")


def _beyond(bound: Any) -> bool:
    """Whether `bound` is a float without a value: infinite (a certain answer) or NaN (never true)."""
    return isinstance(bound, float | np.floating) and not math.isfinite(bound)
