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
_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_WEYL = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)
_ROUNDS = np.arange(10, dtype=np.uint64)


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
        counter = np.zeros((4, len(seeds), blocks), np.uint64)
        counter[0], counter[1], counter[2] = rounds[:, None], int(purpose), np.arange(blocks)
        key = seeds.astype(np.uint64)
        words = philox(counter, np.stack((key & _LOW, key >> _WORD))[:, :, None])
        pairs = _double(words[0::2], words[1::2])  # (2, rows, blocks)
        return pairs.transpose(1, 2, 0).reshape(len(seeds), 2 * blocks)[:, :slots]


def philox(counter: Words, key: Words) -> Words:
    """Ten rounds of Philox4x32 on counters (4, rows, blocks) and keys (2, rows, 1): 32-bit words held in uint64."""
    keys = (key + np.multiply.outer(_ROUNDS, _WEYL)[:, :, None, None]) & _LOW
    even, odd = counter[0::2], counter[1::2]
    for bits in keys:
        products = (even * _MULTIPLIERS[:, None, None])[::-1]
        even, odd = (products >> _WORD) ^ odd ^ bits, products & _LOW
    return np.stack((even[0], odd[0], even[1], odd[1]))


def _double(high: Words, low: Words) -> Floats:
    """53 random bits as a float64 in [0, 1)."""
    bits = ((high >> np.uint64(5)) << np.uint64(26)) | (low >> np.uint64(6))
    return bits.astype(np.float64) * 2.0**-53
