"""Look-alikes that are no faults: the gate must not hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...engine.randomness import CounterRandomness, Floats, Ints, Purpose
from ..targets.strategies import Strategies

_SWAPPED = {
    Purpose.PLAIN: Purpose.PLAIN,
    Purpose.DRAFT: Purpose.LAST,
    Purpose.ACCEPT: Purpose.DRAFT,
    Purpose.LAST: Purpose.ACCEPT,
}


class OtherOrder:
    """The same uniforms in another order (N06): streams are swapped, slots run backwards."""

    def __init__(self) -> None:
        self._inner = CounterRandomness()

    def uniforms(self, seeds: Ints, rounds: Ints, purpose: Purpose, slots: int) -> Floats:
        """Uniforms in [0, 1), shape (rows, slots)."""
        given = self._inner.uniforms(seeds, rounds, _SWAPPED[purpose], slots)
        return np.ascontiguousarray(given[:, ::-1])


def other_order(strategies: Strategies) -> Strategies:
    """N06."""
    return replace(strategies, randomness=OtherOrder())
