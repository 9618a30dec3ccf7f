"""Chance that depends on nothing but (request seed, round, purpose, slot).

Counter-based: a token's chance is the same whatever else is in the batch, however the batch is shaped and however often
a round is repeated. The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
2011). Knows nothing about laws or trees.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Word = Any  # a whole number, or an array of uint64

_LOW = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_FEW = 16  # blocks that take less one by one, in whole numbers, than in arrays


class Purpose(IntEnum):
    """What a uniform is used for; two purposes never share one."""

    PLAIN = 0
    DRAFT = 1
    ACCEPT = 2
    LAST = 3


class Randomness(Protocol):
    """Where the engine's uniforms come from: a strategy, so that a test may pass another."""

    def uniforms(self, seeds: Ints, rounds: Ints, purpose: Purpose, slots: int) -> Floats:
        """Uniforms in [0, 1), shape (rows, slots), one row for each (seed, round)."""


class CounterRandomness:
    """The engine's own: Philox keyed by the request's seed, counting (round, purpose, slot)."""

    def uniforms(self, seeds: Ints, rounds: Ints, purpose: Purpose, slots: int) -> Floats:
        """Uniforms in [0, 1), shape (rows, slots); two 53-bit doubles come from each block of four words."""
        blocks = (slots + 1) // 2
        keys, turns = seeds.astype(np.uint64), rounds.astype(np.uint64)
        if len(seeds) * blocks <= _FEW:
            rows = list(zip(keys.tolist(), turns.tolist(), strict=True))
            pairs = np.array([_pair(key, (turn, purpose, block, 0)) for key, turn in rows for block in range(blocks)])
        else:
            counter = (turns[:, None], int(purpose), np.arange(blocks, dtype=np.uint64), 0)
            pairs = np.stack(_pair(keys[:, None], counter), axis=-1)
        return pairs.reshape(len(seeds), 2 * blocks)[:, :slots]


def _pair(key: Word, counter: tuple[Word, Word, Word, Word]) -> tuple[Any, Any]:
    """Two float64 in [0, 1) from the four words of each block."""
    a, b, c, d = philox(counter, (key & _LOW, key >> 32))
    return _double(a, b), _double(c, d)


def philox(counter: tuple[Word, Word, Word, Word], key: tuple[Word, Word]) -> tuple[Word, Word, Word, Word]:
    """Ten rounds of Philox4x32 on 32-bit words: whole numbers, or arrays of uint64; counter and key broadcast."""
    a, b, c, d = counter
    left, right = key
    for _ in range(_ROUNDS):
        first, second = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b, c, d = (second >> 32) ^ b ^ left, second & _LOW, (first >> 32) ^ d ^ right, first & _LOW
        left, right = (left + _WEYL[0]) & _LOW, (right + _WEYL[1]) & _LOW
    return a, b, c, d


def _double(high: Word, low: Word) -> Any:
    """53 random bits as a float64 in [0, 1)."""
    return (((high >> 5) << 26) | (low >> 6)) * 2.0**-53
