"""Fractions that are not reduced: the same exact arithmetic several times faster, for the few steps of one walk.

Terms of one law share their denominator and keep it under sums and quotients, so numbers stay short without a common
divisor ever being looked for. Long sums belong to `Fraction`: `exactly` makes one.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def _with_rationals(operator: Callable[[Any, int, int], Any]) -> Callable[[Any, Any], Any]:
    """`operator` on a ratio and the other number's parts; floats and arrays are left to themselves."""

    def on_parts(ratio: Any, other: Any) -> Any:
        if other.__class__ is Ratio:
            return operator(ratio, other.numerator, other.denominator)
        if other.__class__ is int:
            return operator(ratio, other, 1)
        if isinstance(other, Rational):
            return operator(ratio, int(other.numerator), int(other.denominator))
        return NotImplemented

    return on_parts


def _plus(a: Ratio, n: int, d: int) -> Ratio:
    if d == a.denominator:
        return Ratio(a.numerator + n, d)
    return Ratio(a.numerator * d + n * a.denominator, a.denominator * d)


def _over(a: Ratio, n: int, d: int) -> Ratio:
    if n <= 0:
        raise ZeroDivisionError("a ratio is divided by positive numbers only")
    return Ratio(a.numerator, n) if d == a.denominator else Ratio(a.numerator * d, a.denominator * n)


class Ratio:
    """`numerator / denominator`, the denominator positive. Mixes with whole numbers and Fractions, never with floats.

    Not registered as a rational number: Fraction takes those for reduced.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int) -> None:
        self.numerator, self.denominator = numerator, denominator

    __add__ = __radd__ = _with_rationals(_plus)
    __sub__ = _with_rationals(lambda a, n, d: _plus(a, -n, d))
    __rsub__ = _with_rationals(lambda a, n, d: _plus(-a, n, d))
    __mul__ = __rmul__ = _with_rationals(lambda a, n, d: Ratio(a.numerator * n, a.denominator * d))
    __truediv__ = _with_rationals(_over)
    __rtruediv__ = _with_rationals(lambda a, n, d: Ratio(n, d) / a)
    __lt__ = _with_rationals(lambda a, n, d: a.numerator * d < n * a.denominator)
    __le__ = _with_rationals(lambda a, n, d: a.numerator * d <= n * a.denominator)
    __gt__ = _with_rationals(lambda a, n, d: a.numerator * d > n * a.denominator)
    __ge__ = _with_rationals(lambda a, n, d: a.numerator * d >= n * a.denominator)
    __eq__ = _with_rationals(lambda a, n, d: a.numerator * d == n * a.denominator)

    def __neg__(self) -> Ratio:
        return Ratio(-self.numerator, self.denominator)

    def __hash__(self) -> int:
        return hash(Fraction(self.numerator, self.denominator))

    def __bool__(self) -> bool:
        return self.numerator != 0

    def __repr__(self) -> str:
        return f"Ratio({self.numerator}, {self.denominator})"


def ratios(law: Sequence[Fraction] | NDArray[Any]) -> NDArray[Any]:
    """`law` as an array of Ratios with one denominator."""
    whole = lcm(*(mass.denominator for mass in law))
    array = np.empty(len(law), dtype=object)
    array[:] = [Ratio(mass.numerator * (whole // mass.denominator), whole) for mass in law]
    return array
