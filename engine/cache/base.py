"""What the engine asks of a key-value cache, whatever stores it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

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
