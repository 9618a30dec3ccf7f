"""Chance that depends on nothing but (request seed, round, purpose, slot).

Counter-based: a token's chance is the same whatever else is in the batch, however the batch is shaped and however often
a round is repeated. The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
2011). Knows nothing about laws or trees.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


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
        shape = (len(seeds), blocks)
        key = seeds.astype(np.uint64)[:, None]
        counter = (
            np.broadcast_to(rounds.astype(np.uint64)[:, None], shape),
            np.full(shape, int(purpose), np.uint64),
            np.broadcast_to(np.arange(blocks, dtype=np.uint64), shape),
            np.zeros(shape, np.uint64),
        )
        a, b, c, d = philox(counter, (key & _LOW, key >> _WORD))
        pairs = np.stack((_double(a, b), _double(c, d)), axis=-1)
        return pairs.reshape(len(seeds), 2 * blocks)[:, :slots]


def philox(counter: tuple[Words, Words, Words, Words], key: tuple[Words, Words]) -> tuple[Words, Words, Words, Words]:
    """Ten rounds of Philox4x32 on arrays of 32-bit words held in uint64; counter and key broadcast together."""
    a, b, c, d = counter
    left, right = key
    for _ in range(_ROUNDS):
        first, second = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b, c, d = (second >> _WORD) ^ b ^ left, second & _LOW, (first >> _WORD) ^ d ^ right, first & _LOW
        left, right = (left + np.uint64(_WEYL[0])) & _LOW, (right + np.uint64(_WEYL[1])) & _LOW
    return a, b, c, d


def _double(high: Words, low: Words) -> Floats:
    """53 random bits as a float64 in [0, 1)."""
    bits = ((high >> np.uint64(5)) << np.uint64(26)) | (low >> np.uint64(6))
    return bits.astype(np.float64) * 2.0**-53
