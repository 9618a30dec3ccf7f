"""Exponential random numbers that run a race: how samplers draw a token by argmax(p / E) or argmax(log p + Gumbel).

Races may be scaled, inverted and logged, and compared with each other; that is enough for an argmax, and exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .symbolic import ONE, Chance, NotEnumerable, Symbol, by_element


class LogUniform(Symbol):
    """`log(U) + shift`. It may be compared once with a number, or become an exponential."""

    def __init__(self, exponential: Exponential, shift: float = 0.0) -> None:
        self.noise, self.shift = exponential, shift

    def __neg__(self) -> Race:
        if self.shift:
            self._refuse("the negative of a shifted logarithm")
        return Race(self.noise, ONE, power=1, logged=False)

    @by_element
    def __add__(self, other: Any) -> LogUniform:
        if isinstance(other, Symbol):
            raise NotEnumerable("the sampler combines two random numbers")
        return LogUniform(self.noise, self.shift + float(other))

    __radd__ = __add__

    @by_element
    def __sub__(self, other: Any) -> LogUniform:
        return self.__add__(-other)

    @by_element
    def __lt__(self, bound: Any) -> bool:
        """`log(U) < c` has chance exp(c)."""
        if isinstance(bound, Symbol) or self.noise.lost or self.noise.rate != ONE:
            raise NotEnumerable("the sampler compares the logarithm of a uniform twice, or with another")
        edge = float(bound) - self.shift
        if math.isnan(edge):
            self._refuse("a comparison with nan")
        mass = self.noise.chance.rational(math.exp(min(edge, 0.0)))
        if not 0 < mass < 1:
            return mass == 1
        self.noise.lost = True
        return self.noise.chance.choose((mass, 1 - mass)) == 0

    @by_element
    def __gt__(self, bound: Any) -> bool:
        return not self < bound


class Exponential:
    """A positive number with density `rate * exp(-rate * x)`; a race that it lost leaves nothing that can be used."""

    def __init__(self, chance: Chance) -> None:
        self.chance, self.rate, self.lost = chance, ONE, False


class Race(Symbol):
    """`weight * E**power`, or its logarithm: with E exponential, what argmax compares when a token is drawn by a race.

    Of two, E_a / a is the smaller with chance a / (a + b), and the smaller one is exponential with rate a + b whichever
    it is: so the winner runs on, and the loser, of which more is known now, may not be used again.
    """

    def __init__(self, noise: Exponential, weight: Fraction, *, power: int, logged: bool) -> None:
        self.noise, self.weight, self.power, self.logged = noise, weight, power, logged

    def log(self) -> Race:
        """The logarithm."""
        if self.logged:
            self._refuse("the logarithm of the logarithm")
        return Race(self.noise, self.weight, power=self.power, logged=True)

    def __neg__(self) -> Race:
        if not self.logged:
            self._refuse("the negative of an exponential")
        return Race(self.noise, 1 / self.weight, power=-self.power, logged=True)

    @by_element
    def __mul__(self, factor: Any) -> Race:
        if self.logged:
            self._refuse("a multiple of the logarithm")
        return Race(self.noise, self.weight * self._positive(factor), power=self.power, logged=False)

    __rmul__ = __mul__

    @by_element
    def __truediv__(self, divisor: Any) -> Race:
        if self.logged or not self._positive(divisor):
            self._refuse("a quotient with 0 or a logarithm")
        return Race(self.noise, self.weight / self._positive(divisor), power=self.power, logged=False)

    @by_element
    def __rtruediv__(self, number: Any) -> Race:
        if self.logged or not self.weight:
            self._refuse("a quotient by a logarithm or by 0")
        return Race(self.noise, self._positive(number) / self.weight, power=-self.power, logged=False)

    @by_element
    def __add__(self, other: Any) -> Race:
        return self._plus(other)

    def _plus(self, other: Any) -> Race:
        if not self.logged:
            self._refuse("a sum with an exponential")
        factor = self.noise.chance.rational(math.exp(float(other)))
        return Race(self.noise, self.weight * factor, power=self.power, logged=True)

    __radd__ = __add__

    @by_element
    def __sub__(self, other: Any) -> Race:
        return self._plus(-other)

    @by_element
    def __rsub__(self, other: Any) -> Race:
        return (-self)._plus(other)

    @by_element
    def __lt__(self, other: Any) -> bool:
        return self._order(other) < 0

    @by_element
    def __gt__(self, other: Any) -> bool:
        return self._order(other) > 0

    def _order(self, other: Any) -> int:
        """-1 where this is the smaller of the two, 1 where it is the greater, 0 where both are 0."""
        if not isinstance(other, Race):
            return self._beside(other)
        if (other.power, other.logged) != (self.power, self.logged):
            self._refuse("a comparison with something else")
        a, b = self.pace(), other.pace()
        if not a or not b:
            return bool(a) - bool(b)  # a weight of 0 is smaller for certain
        if self.noise is other.noise or self.noise.lost or other.noise.lost:
            raise NotEnumerable("the sampler uses the same exponential in two comparisons")
        first = self.noise.chance.choose((a / (a + b), b / (a + b))) == 0
        winner, loser, rate = (self, other, a) if first else (other, self, b)
        winner.noise.rate *= (a + b) / rate
        loser.noise.lost = True
        return -self.power if first else self.power

    def _beside(self, number: Any) -> int:
        """The order against a number below or above all values; against another it cannot be told."""
        if isinstance(number, Symbol) or not (_infinite(number) or (not self.logged and number < 0)):
            self._refuse("a comparison of an exponential with a number")
        return 1 if number < 0 else -1

    def pace(self) -> Fraction:
        """The rate of the exponential `weight * E` or, for power -1, of `E / weight`."""
        if self.power == 1 and not self.weight:
            self._refuse("a comparison with 0")
        return self.noise.rate / self.weight if self.power == 1 else self.noise.rate * self.weight

    def _positive(self, number: Any) -> Fraction:
        if isinstance(number, Symbol):
            raise NotEnumerable("the sampler combines two random numbers")
        value = self.noise.chance.rational(number)
        if value < 0:
            self._refuse("a negative multiple")
        return value


def _infinite(number: Any) -> bool:
    return isinstance(number, float | np.floating) and math.isinf(number)
