"""A cache of one tensor a layer: the fast path. Rollback is exact, because length alone says what is visible.

Entries behind a row's length are never read: the attention mask is built from `lengths`, and the next block overwrites
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .base import Entries

Ints = npt.NDArray[np.int64]
_ROOM = 64  # entries added when a row outgrows its tensor: fewer copies against less memory


class ContiguousCache:
    """Keys and values in tensors (rows, heads, capacity, width), one pair a layer, grown as needed."""

    def __init__(self, rows: int) -> None:
        self.lengths: Ints = np.zeros(rows, np.int64)
        self._layers: dict[int, Entries] = {}

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Adds a block behind the committed entries; returns everything up to the end of the longest row's block."""
        nodes = keys.shape[2]
        reach = int(self.lengths.max(initial=0)) + nodes
        stored = self._grown(layer, keys, values, reach)
        if len(self.lengths) == 1:  # without an index: a third of the time
            stored.keys.narrow(2, reach - nodes, nodes).copy_(keys)
            stored.values.narrow(2, reach - nodes, nodes).copy_(values)
        else:
            place = _place(self.lengths.tobytes(), nodes)
            stored.keys[place] = keys.transpose(1, 2)
            stored.values[place] = values.transpose(1, 2)
        return Entries(stored.keys.narrow(2, 0, reach), stored.values.narrow(2, 0, reach))

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Moves the accepted path up behind the root where it is not there already, and counts it."""
        for row, path in enumerate(paths):
            if path and path[-1] != len(path):  # nodes on a path increase, so only a gap makes its last one larger
                self._compact(row, int(self.lengths[row]), path)
        self.lengths = self.lengths + np.array([1 + len(path) for path in paths], np.int64)

    def rewind(self, lengths: Ints) -> None:
        """Forgets entries from the end. Raises ValueError where a row holds fewer than it should keep."""
        if (lengths > self.lengths).any():
            raise ValueError(f"cannot rewind {self.lengths.tolist()} entries to {lengths.tolist()}")
        self.lengths = lengths.astype(np.int64)

    def select(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order."""
        index = torch.tensor(list(rows), dtype=torch.long)
        self.lengths = self.lengths[list(rows)]
        self._layers = {
            layer: Entries(stored.keys.index_select(0, index), stored.values.index_select(0, index))
            for layer, stored in self._layers.items()
        }

    def join(self, rows: int) -> None:
        """Adds this many empty rows at the end."""
        self.lengths = np.concatenate((self.lengths, np.zeros(rows, np.int64)))
        self._layers = {
            layer: Entries(*(torch.cat((old, old.new_zeros(rows, *old.shape[1:]))) for old in stored))
            for layer, stored in self._layers.items()
        }

    def append(self, other: ContiguousCache) -> None:
        """Takes over the rows of another cache, at the end."""
        first, more = len(self.lengths), len(other.lengths)
        self.join(more)
        for layer, new in other._layers.items():
            stored = self._layers.get(layer) or Entries(*(old.new_zeros(first + more, *old.shape[1:]) for old in new))
            if stored.keys.shape[2] < new.keys.shape[2]:
                stored = Entries(*(_room(old, old, new.keys.shape[2]) for old in stored))
            for old, fresh in zip(stored, new, strict=True):
                old[first:, :, : fresh.shape[2]] = fresh
            self._layers[layer] = stored
        self.lengths[first:] = other.lengths
        other.select([])

    def reserve(self, nodes: Sequence[int]) -> None:
        """Padding lies where the next block will: nothing to do."""

    def _compact(self, row: int, start: int, path: Sequence[int]) -> None:
        source = torch.tensor([start + node for node in path], dtype=torch.long)
        with torch.inference_mode():  # a model's pass leaves inference tensors, which may be changed nowhere else
            for stored in self._layers.values():
                for tensor in stored:
                    tensor[row, :, start + 1 : start + 1 + len(path)] = tensor[row, :, source]

    def _grown(self, layer: int, keys: Tensor, values: Tensor, reach: int) -> Entries:
        stored = self._layers.get(layer)
        if stored is None or stored.keys.shape[2] < reach:
            stored = Entries(
                *(
                    _room(old, new, reach + _ROOM)
                    for old, new in zip(stored or (None, None), (keys, values), strict=True)
                )
            )
            self._layers[layer] = stored
        return stored


@lru_cache(maxsize=4)
def _place(lengths: bytes, nodes: int) -> tuple[Tensor, slice, Tensor]:
    """Where a block (rows, nodes, heads, width) goes behind rows of these lengths: worked out once for all layers."""
    starts = torch.tensor(np.frombuffer(lengths, np.int64))
    return torch.arange(len(starts))[:, None], slice(None), starts[:, None] + torch.arange(nodes)


def _room(old: Tensor | None, like: Tensor, capacity: int) -> Tensor:
    """A zeroed tensor of `capacity` entries that begins with what `old` held."""
    grown = like.new_zeros(like.shape[0], like.shape[1], capacity, like.shape[3])
    if old is not None:
        grown[:, :, : old.shape[2]] = old
    return grown
