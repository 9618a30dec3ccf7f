"""Chance for functions that calculate in floats: a float counts as the rational number that it is.

What is enumerated is then the law of the program with its rounded constants, under ideal uniforms: it differs from the
law in rational numbers by rounding, and says so.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .exact import SymbolicRandomness
from .symbolic import NotEnumerable, Symbol, Uniform, exactly

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .exact import Fork


class RoundingRandomness(SymbolicRandomness):
    """Symbolic chance that takes floats too. `rounded`: whether it was given one on this path."""

    def __init__(self, forced: Sequence[Fork]) -> None:
        super().__init__(forced, self._rational)
        self.rounded = False

    def fresh(self) -> Uniform:
        """A uniform that nobody has seen."""
        return Uniform(self)

    def weighted(self, weights: Iterable[Any]) -> int:
        """An index with chance proportional to its weight. Raises ValueError for what are no weights."""
        masses = [self.rational(weight) for weight in weights]
        total = sum(masses, Fraction(0))
        if total <= 0 or min(masses) < 0:
            raise ValueError("a draw was asked from weights that are negative or all 0")
        possible = [index for index, mass in enumerate(masses) if mass]
        return possible[self.choose(tuple(masses[index] / total for index in possible))]

    def _rational(self, number: Any) -> Fraction:
        if isinstance(number, Symbol):
            raise NotEnumerable("the sampler uses a random number as a probability")
        try:
            return exactly(number)
        except TypeError:
            value = float(number)
        if not math.isfinite(value):
            raise NotEnumerable(f"the sampler uses {value} as a probability")
        self.rounded = True
        return Fraction(value)
