"""Keys and values in few bits around any cache: what is attended to is what was stored, a block's own tokens included.

A vector of one token and head is cut into groups along its width. Of each group the least value and the step between
two codes are kept in 16 bits, and every value as a whole number of steps: asymmetric, by the range (Sheng et al. 2023,
2303.06865, section 5; Liu et al. 2024, 2402.02750, section 3.1). No group spans tokens, so that an entry depends on its
own token only: scored alone, in a block or after a rollback it is the same. Groups along tokens are finer for keys, but
need company, and a token in company is not what it was alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import EngineError
from .base import Cache, Entries, Ints
from .store import FloatStore

NIBBLE, BYTE = 4, 8  # bits that a value may have
_WORD = 8  # a packed vector is a multiple of so many bytes, that its numbers can be read where they lie


class _Layout(NamedTuple):
    """Where the parts of a packed vector lie: `params` bytes of steps and least values, then `codes` bytes."""

    groups: int
    size: int
    params: int
    codes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """Vectors (..., width) as bytes (..., bytes), `bits` (4 or 8) a value, `group` values to a step and a least value.

    Where the width is no multiple of `group`, groups are as large as divides both. What is no floating-point number
    is held in 64 bits.
    """

    bits: int
    group: int

    def __post_init__(self) -> None:
        if self.bits not in (NIBBLE, BYTE) or self.group < 1:
            raise EngineError(f"{self.bits} bits in groups of {self.group}: use 4 or 8 bits, groups of 1 and more")

    def bytes(self, width: int, dtype: torch.dtype) -> int:
        """Of one vector, its steps and least values included."""
        parts = self._layout(width, dtype)
        return -(-(parts.params + parts.codes) // _WORD) * _WORD

    def packed(self, vectors: Tensor) -> Tensor:
        """Bytes (..., bytes) of vectors (..., width): each value within half a step, but for how steps are rounded."""
        width, dtype, top = vectors.shape[-1], vectors.dtype, 2**self.bits - 1
        parts, held, wide = self._layout(width, dtype), _held(dtype), _wide(dtype)
        grouped = vectors.to(wide).reshape(*vectors.shape[:-1], parts.groups, parts.size)
        least, most = grouped.aminmax(dim=-1)
        params = torch.cat(((most - least) / top, least), dim=-1).to(held)  # codes are of what is kept, not of what was
        step, start = params.to(wide)[..., None].chunk(2, dim=-2)
        codes = (grouped - start).div_(step.clamp_min(torch.finfo(wide).tiny)).round_().clamp_(0, top)
        codes = codes.to(torch.uint8).flatten(-2)
        if self.bits == NIBBLE:  # the first half of the width in the low bits, the second in the high ones
            low, high = (functional.pad(codes, (0, 1)) if width % 2 else codes).chunk(2, dim=-1)
            codes = low | (high << 4)
        spare = self.bytes(width, dtype) - parts.params - parts.codes
        whole = torch.cat((params.view(torch.uint8), codes), dim=-1)
        return functional.pad(whole, (0, spare)) if spare else whole

    def unpacked(self, packed: Tensor, width: int, dtype: torch.dtype) -> Tensor:
        """Vectors (..., width) of `dtype` from what `packed` made of such."""
        parts, wide = self._layout(width, dtype), _wide(dtype)
        step, start = packed[..., : parts.params].view(_held(dtype)).to(wide)[..., None].chunk(2, dim=-2)
        codes = packed[..., parts.params : parts.params + parts.codes]
        if self.bits == NIBBLE:
            codes = torch.cat((codes & 15, codes >> 4), dim=-1)[..., :width]
        grouped = codes.reshape(*codes.shape[:-1], parts.groups, parts.size).to(wide)
        return torch.addcmul(start, grouped, step).flatten(-2).to(dtype)

    def both_packed(self, keys: Tensor, values: Tensor) -> Entries:
        """Keys and values (rows, heads, nodes, width) as bytes. Raises EngineError where they differ in width."""
        if keys.shape[-1] != values.shape[-1]:
            told = f"keys have width {keys.shape[-1]}, values {values.shape[-1]}"
            raise EngineError(f"{told}: they are not packed together; use cache=float with this model")
        return Entries(*self.packed(torch.cat((keys, values), dim=1)).chunk(2, dim=1))  # together: half the calls

    def both_unpacked(self, packed: Entries, width: int, dtype: torch.dtype) -> Entries:
        """Keys and values (rows, heads, entries, width) from their bytes."""
        return Entries(*self.unpacked(torch.cat(tuple(packed), dim=1), width, dtype).chunk(2, dim=1))

    def _layout(self, width: int, dtype: torch.dtype) -> _Layout:
        size = math.gcd(width, self.group)
        params = 2 * (width // size) * _held(dtype).itemsize
        return _Layout(width // size, size, params, width if self.bits == BYTE else -(-width // 2))


class QuantisedCache:
    """A cache that keeps the bytes of `codes` in the cache it is built around, and gives back what they stand for."""

    def __init__(self, inner: Cache, codes: Codes) -> None:
        self._inner = inner
        self._codes = codes
        self._bytes: dict[int, int] = {}

    @classmethod
    def around(cls, new_cache: Callable[[int], Cache], codes: Codes) -> Callable[[int], QuantisedCache]:
        """A factory of such caches, from one of caches."""
        return lambda rows: cls(new_cache(rows), codes)

    @property
    def lengths(self) -> Ints:
        """(rows,): committed entries."""
        return self._inner.lengths

    @lengths.setter
    def lengths(self, lengths: Ints) -> None:
        """What the cache within is told to hold."""
        self._inner.lengths = lengths

    @property
    def bytes_per_token(self) -> int:
        """Keys and values of one token in all layers written so far."""
        return sum(self._bytes.values())

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Packs the block, adds it behind the committed entries, and returns all there is, unpacked."""
        packed = self._codes.both_packed(keys, values)
        self._bytes[layer] = sum(part.shape[1] * part.shape[3] for part in packed)
        return self._codes.both_unpacked(self._inner.write(layer, *packed), keys.shape[-1], keys.dtype)

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Keeps the root and the accepted path of the block last written."""
        self._inner.commit(paths)

    def rewind(self, lengths: Ints) -> None:
        """Keeps the first `lengths[row]` entries of each row."""
        self._inner.rewind(lengths)

    def select(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order."""
        self._inner.select(rows)

    def join(self, rows: int) -> None:
        """Adds this many empty rows at the end."""
        self._inner.join(rows)

    def append(self, other: QuantisedCache) -> None:
        """Takes over the rows of another cache of this kind, at the end."""
        self._inner.append(other._inner)
        self._bytes |= other._bytes

    def reserve(self, nodes: Sequence[int]) -> None:
        """Of the block written next row `row` has `nodes[row]` nodes."""
        self._inner.reserve(nodes)


class QuantisedStore:
    """A pool's store that keeps the bytes of `codes` in a store of floats' own layout."""

    def __init__(self, blocks: int, size: int, codes: Codes) -> None:
        self._inner = FloatStore(blocks, size)
        self._codes = codes
        self._given: dict[int, tuple[int, torch.dtype]] = {}

    @classmethod
    def of(cls, codes: Codes) -> Callable[[int, int], QuantisedStore]:
        """A factory of such stores, as a pool takes one."""
        return lambda blocks, size: cls(blocks, size, codes)

    def put(self, layer: int, slots: slice | Tensor, keys: Tensor, values: Tensor) -> None:
        """Packs a block of nodes and writes it."""
        self._given[layer] = keys.shape[-1], keys.dtype
        self._inner.put(layer, slots, *self._codes.both_packed(keys, values))

    def take(self, layer: int, places: slice | Tensor) -> Entries:
        """A slice of slots, or all slots of numbered blocks, unpacked: always a copy."""
        return self._codes.both_unpacked(self._inner.take(layer, places), *self._given[layer])

    def move(self, source: Tensor, target: Tensor) -> None:
        """Bytes are moved as they are: nothing is rounded twice."""
        self._inner.move(source, target)

    @property
    def bytes_per_token(self) -> int:
        """Of all layers written so far."""
        return self._inner.bytes_per_token


def _held(dtype: torch.dtype) -> torch.dtype:
    """What steps and least values are kept in: 16 bits; 64 for what is no floating-point number."""
    if not dtype.is_floating_point:
        return torch.float64
    return dtype if dtype.itemsize < torch.float32.itemsize else torch.float16


def _wide(dtype: torch.dtype) -> torch.dtype:
    """What codes are worked out in."""
    if not dtype.is_floating_point:
        return torch.float64
    return torch.promote_types(dtype, torch.float32)
