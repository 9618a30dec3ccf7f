"""Random numbers of which only as much is known as was asked: what a sampler is handed to be enumerated.

A comparison with a known number is a fork in the road, taken both ways by `exact.paths`; everything that would need the
number itself raises NotEnumerable. Uniforms may be shifted and scaled. Exponentials (-log U) may be scaled, inverted,
logged and compared with each other (`races`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from numbers import Rational
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, TypeVar

import numpy as np

from .ratio import Ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .races import LogUniform

ZERO, ONE = Fraction(0), Fraction(1)
Left = TypeVar("Left")
Result = TypeVar("Result")


class NotEnumerable(BaseException):
    """The function does with chance what cannot be followed exactly. It says nothing about right or wrong.

    It is no Exception: a fallback of the function's own would hide it, and be enumerated in place of what really runs.
    A bare `except` hides it still: `made` lets `exact.paths` find out.
    """

    made: ClassVar[int] = 0
    latest: ClassVar[str] = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        NotEnumerable.made, NotEnumerable.latest = NotEnumerable.made + 1, message


def by_element(operator: Callable[[Left, Any], Result]) -> Callable[[Left, Any], Result]:
    """`operator`, which leaves arrays to numpy: it comes back with their elements, one by one."""

    def left_to_numpy(symbol: Left, other: Any) -> Result:
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
        return bool(self < bound)  # a single point has no mass

    def __ge__(self, bound: Any) -> bool:
        return bool(self > bound)

    def __lt__(self, bound: Any) -> bool:
        self._refuse("an unknown comparison")

    def __gt__(self, bound: Any) -> bool:
        self._refuse("an unknown comparison")

    @by_element
    def _unknown(self, other: Any) -> Any:
        del other
        self._refuse("an unknown function")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _unknown
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _unknown

    def log(self) -> Any:
        """Refused, unless the kind of symbol has one."""
        self._refuse("the logarithm")

    def __neg__(self) -> Any:
        self._refuse("an unknown function")

    def __abs__(self) -> Any:
        self._refuse("an unknown function")


class Affine(Symbol):
    """`factor * U + shift`, U uniform: what acceptance rules compare with p."""

    def __init__(self, uniform: Uniform, factor: Fraction, shift: Fraction) -> None:
        self.uniform, self.factor, self.shift = uniform, factor, shift

    @by_element
    def __add__(self, other: Any) -> Affine:
        return Affine(self.uniform, self.factor, self.shift + self._known(other))

    __radd__ = __add__

    @by_element
    def __sub__(self, other: Any) -> Affine:
        return Affine(self.uniform, self.factor, self.shift - self._known(other))

    @by_element
    def __rsub__(self, other: Any) -> Affine:
        return Affine(self.uniform, -self.factor, self._known(other) - self.shift)

    @by_element
    def __mul__(self, factor: Any) -> Affine:
        by = self._known(factor)
        return Affine(self.uniform, self.factor * by, self.shift * by)

    __rmul__ = __mul__

    @by_element
    def __truediv__(self, divisor: Any) -> Affine:
        by = self._known(divisor)
        return Affine(self.uniform, self.factor / by, self.shift / by)

    def __neg__(self) -> Affine:
        return Affine(self.uniform, -self.factor, -self.shift)

    @by_element
    def __lt__(self, bound: Any) -> bool:
        return self._compared(bound, at_equal=False, below=True)

    @by_element
    def __le__(self, bound: Any) -> bool:
        return self._compared(bound, at_equal=True, below=True)

    @by_element
    def __gt__(self, bound: Any) -> bool:
        return self._compared(bound, at_equal=True, below=False)

    @by_element
    def __ge__(self, bound: Any) -> bool:
        return self._compared(bound, at_equal=False, below=False)

    def _compared(self, bound: Any, *, at_equal: bool, below: bool) -> bool:
        if isinstance(bound, Affine) and bound.uniform is self.uniform:
            apart = Affine(self.uniform, self.factor - bound.factor, self.shift - bound.shift)
            return apart._less(ZERO, at_equal=at_equal) is below
        if _beyond(bound):
            return bool(bound > 0 if below else bound < 0)
        return self._less(self._known(bound), at_equal=at_equal) is below

    def _less(self, bound: Fraction, *, at_equal: bool) -> bool:
        if self.factor is ONE and self.shift is ZERO:
            return self.uniform.below(bound)
        if not self.factor:
            return self.shift < bound or (at_equal and self.shift == bound)
        below = self.uniform.below((bound - self.shift) / self.factor)
        return below if self.factor > 0 else not below

    def _known(self, number: Any) -> Fraction:
        if isinstance(number, Symbol):
            raise NotEnumerable("the sampler combines two random numbers in one comparison")
        return self.uniform.chance.rational(number)


class Uniform(Affine):
    """A number uniform on [0, 1) of which only an interval is known. Comparing it narrows the interval."""

    def __init__(self, chance: Chance) -> None:
        super().__init__(self, ONE, ZERO)
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
        if self._spent:
            raise NotEnumerable("the sampler compares a uniform whose logarithm it uses too")
        if self._high <= edge or edge <= self._low:
            return self._high <= edge
        low, high = self._low, self._high
        below = (edge - low) / (high - low) if low or high != 1 else edge
        if self.chance.choose((below, 1 - below)) == 0:
            self._high = edge
            return True
        self._low = edge
        return False

    def log(self) -> LogUniform:
        """Its logarithm, of which only the negative can be used: an exponential."""
        from .races import Exponential, LogUniform

        if (self._low, self._high) != (ZERO, ONE) or self._spent:
            raise NotEnumerable("the sampler takes the logarithm of a uniform that it used before")
        self._spent = True
        return LogUniform(Exponential(self.chance))


def exactly(number: Any) -> Fraction:
    """`number` as a Fraction; floats are refused: rounded to floats, a law no longer sums to 1."""
    if number.__class__ is Fraction:
        return number
    if number.__class__ is Ratio:
        return Fraction(number.numerator, number.denominator)
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    raise TypeError(f"{number!r} is no rational number; exact enumeration takes Fractions and whole numbers only")


def _beyond(bound: Any) -> bool:
    """Whether `bound` is a float without a value: infinite (a certain answer) or NaN (never true)."""
    return isinstance(bound, float | np.floating) and not math.isfinite(bound)
