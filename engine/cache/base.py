"""What the engine asks of a key-value cache, whatever stores it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

Ints = npt.NDArray[np.int64]


class Entries(NamedTuple):
    """Keys and values of one layer, each (rows, heads, entries, width)."""

    keys: Tensor
    values: Tensor


class Cache(Protocol):
    """Entries of committed tokens, and for the time of one round those of a block under judgement.

    A row holds `lengths[row]` committed entries. `write` puts a block behind them; `commit` keeps of the block the root
    and the accepted path, in order, and forgets the rest; `rewind` forgets committed entries from the end.
    """

    lengths: Ints

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Adds a block (rows, heads, nodes, width) behind the committed entries; returns all there is."""

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Keeps node 0 and the nodes of `paths[row]` of the block last written."""

    def rewind(self, lengths: Ints) -> None:
        """Keeps the first `lengths[row]` entries of each row."""

    def select(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order."""

    def join(self, rows: int) -> None:
        """Adds this many empty rows at the end."""

    def append(self, other: Any) -> None:
        """Takes over the rows of another cache of this kind, at the end; the other one has none any more."""

    def reserve(self, nodes: Sequence[int]) -> None:
        """Of the block written next row `row` has `nodes[row]` nodes: what is written beyond them is padding."""
