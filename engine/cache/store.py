"""Where a pool's blocks lie: tensors of slots, one pair a layer, made at the first write.

A store knows slots and blocks, not whose they are. Another way to keep a token's keys and values, in fewer bits, is
another store with the same methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from .base import Entries


class Store(Protocol):
    """Keys and values of `blocks` blocks of `size` slots. Slot `b * size + i` is place `i` of block `b`."""

    def put(self, layer: int, slots: slice | Tensor, keys: Tensor, values: Tensor) -> None:
        """Writes (rows, heads, nodes, width) into slots: one row's as a slice, or by their numbers (rows, nodes)."""

    def take(self, layer: int, places: slice | Tensor) -> Entries:
        """A slice of slots as one row, or all slots of numbered blocks (rows, blocks). Not to be changed."""

    def move(self, source: Tensor, target: Tensor) -> None:
        """In every layer, each `target` slot holds what its `source` slot held before."""

    @property
    def bytes_per_token(self) -> int:
        """Of all layers written so far."""


StoreFactory = Callable[[int, int], Store]  # of blocks and size


class FloatStore:
    """Keys and values as they come, (1, heads, slots, width) each: as attention reads them where no index is needed.

    A head's part of a block is one piece of memory, so that a table of blocks is gathered by plain copies.
    """

    def __init__(self, blocks: int, size: int) -> None:
        self._blocks, self._size = blocks, size
        self._layers: dict[int, Entries] = {}

    def put(self, layer: int, slots: slice | Tensor, keys: Tensor, values: Tensor) -> None:
        """Writes a block of nodes."""
        for stored, new in zip(self._made(layer, keys, values), (keys, values), strict=True):
            if isinstance(slots, slice):
                stored.narrow(2, slots.start, slots.stop - slots.start).copy_(new)
            else:
                stored[0, :, slots] = new.transpose(0, 1)

    def take(self, layer: int, places: slice | Tensor) -> Entries:
        """A view of a slice, a copy of blocks."""
        keys, values = self._layers[layer]
        if isinstance(places, slice):
            start, count = places.start, places.stop - places.start
            return Entries(keys.narrow(2, start, count), values.narrow(2, start, count))
        pieces = places[:, None] + torch.arange(keys.shape[1])[:, None] * self._blocks
        return Entries(self._gathered(keys, pieces), self._gathered(values, pieces))

    def move(self, source: Tensor, target: Tensor) -> None:
        """Reads all, then writes all."""
        for layer in self._layers.values():
            for stored in layer:
                stored[:, :, target] = stored[:, :, source]

    @property
    def bytes_per_token(self) -> int:
        """Of all layers written so far."""
        return sum(stored[:, :, 0].nbytes for layer in self._layers.values() for stored in layer)

    def _gathered(self, stored: Tensor, pieces: Tensor) -> Tensor:
        rows, heads, count = pieces.shape
        together = stored.view(heads * self._blocks, -1).index_select(0, pieces.view(-1))
        return together.view(rows, heads, count * self._size, -1)

    def _made(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        if layer not in self._layers:
            slots = self._blocks * self._size
            with torch.inference_mode(mode=False):  # a tensor made in a model's pass could be changed nowhere else
                self._layers[layer] = Entries(*(_zeros(new, slots) for new in (keys, values)))
        return self._layers[layer]


def _zeros(like: Tensor, slots: int) -> Tensor:
    return torch.zeros(1, like.shape[1], slots, like.shape[3], dtype=like.dtype, device=like.device)
