"""Looks like a numpy Generator to a sampler, and hands out symbols and forks. What it lacks raises NotEnumerable."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .symbolic import NotEnumerable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .rounding import RoundingRandomness

Size = int | tuple[int, ...] | None
MOST_WAYS = 10_000
"""Equally likely whole numbers up to which each is a path of its own; nobody enumerates a seed."""


class SymbolicGenerator:
    """The methods of `numpy.random.Generator` that can be followed exactly. Arrays are arrays of objects."""

    def __init__(self, chance: RoundingRandomness) -> None:
        self._chance = chance

    def random(self, size: Size = None, **_: Any) -> Any:
        """Uniforms on [0, 1)."""
        return _filled(size, self._chance.fresh)

    def uniform(self, low: Any = 0, high: Any = 1, size: Size = None) -> Any:
        """Uniforms on [low, high)."""
        return _filled(size, lambda: self._chance.fresh() * (high - low) + low)

    def standard_exponential(self, size: Size = None, **_: Any) -> Any:
        """Exponentials of mean 1."""
        return _filled(size, lambda: -self._chance.fresh().log())

    def exponential(self, scale: Any = 1, size: Size = None) -> Any:
        """Exponentials of mean `scale`, one for all."""
        return _filled(size, lambda: -self._chance.fresh().log() * scale)

    def gumbel(self, loc: Any = 0, scale: Any = 1, size: Size = None) -> Any:
        """Gumbel noise; only with scale 1."""
        if scale != 1:
            raise NotEnumerable("the sampler scales Gumbel noise, which cannot be enumerated")
        return _filled(size, lambda: -(-self._chance.fresh().log()).log() + loc)

    def choice(self, a: Any, size: Size = None, replace: bool = True, p: Any = None, **_: Any) -> Any:  # noqa: FBT001, FBT002
        """One of `range(a)` or of the entries of `a`, by `p`; raises ValueError, as numpy does, where `p` is no law."""
        entries = range(int(a)) if np.ndim(a) == 0 else list(a)
        weights = [1] * len(entries) if p is None else list(p)
        if len(weights) != len(entries) or (abs(float(sum(weights)) - 1) > _SUM_SLACK and p is not None):
            raise ValueError("probabilities do not sum to 1, or are not as many as the entries")

        def one() -> Any:
            place = self._chance.weighted(weights)
            if not replace:
                weights[place] = 0
            return entries[place]

        return _filled(size, one)

    def multinomial(self, n: int, pvals: Any, size: Size = None) -> Any:
        """How often each entry comes in `n` draws by `pvals`."""
        if size is not None:
            raise NotEnumerable("the sampler asks for several multinomials at once")
        counts = np.zeros(len(pvals), np.int64)
        for _ in range(n):
            counts[self._chance.weighted(pvals)] += 1
        return counts

    def integers(
        self, low: int, high: int | None = None, size: Size = None, *, endpoint: bool = False, **_: Any
    ) -> Any:
        """Whole numbers from `low` to below `high`, or from 0 to below `low`."""
        first, last = (0, low) if high is None else (low, high)
        ways = last - first + endpoint
        if not 0 < ways <= MOST_WAYS:
            raise NotEnumerable(f"the sampler draws one of {ways} whole numbers, a seed rather than a choice")
        return _filled(size, lambda: first + self._chance.weighted([1] * ways))

    def __getattr__(self, name: str) -> Any:
        raise NotEnumerable(f"the sampler draws with numpy's {name}, which cannot be enumerated")


_SUM_SLACK = 1e-8  # numpy's own


def _filled(size: Size, make: Callable[[], Any]) -> Any:
    if size is None:
        return make()
    shape: Sequence[int] = (size,) if isinstance(size, int) else size
    array = np.empty(prod(shape), dtype=object)
    array[:] = [make() for _ in range(array.size)]
    return array.reshape(shape)
