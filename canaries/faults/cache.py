"""Plants in the key-value cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from ...engine.cache.base import Entries, Ints
from ...engine.cache.contiguous import ContiguousCache
from ..targets.strategies import Strategies

BLOCK = 8  # entries of a block that is kept as a whole


class KeepsRejected(ContiguousCache):
    """After a rejection the rejected token's entry stays behind the accepted ones (F43)."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self._nodes = 0
        self._prefilled = False

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Remembers how many nodes the block has."""
        self._nodes = keys.shape[2]
        return super().write(layer, keys, values)

    def commit(self, paths: Sequence[Sequence[int]]) -> None:
        """Keeps one node too many where some were rejected; the prompt itself is kept as it is."""
        if self._prefilled:
            paths = [[*path, len(path) + 1] if len(path) + 1 < self._nodes else path for path in paths]
        super().commit(paths)
        self._prefilled = True


class KeepsTheOvershoot(ContiguousCache):
    """What was committed past the end of an answer stays before the next turn (F40)."""

    def rewind(self, lengths: Ints) -> None:
        """Forgets nothing."""
        del lengths


class KeepsWholeBlocks(ContiguousCache):
    """What is kept for the next turn is rounded up to whole blocks, rejected drafts and all (F54)."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self._reach = 0

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Remembers how far entries reach that were ever written."""
        self._reach = int(self.lengths.max()) + keys.shape[2]
        return super().write(layer, keys, values)

    def rewind(self, lengths: Ints) -> None:
        """Keeps up to a block's length less one too many, as far as there are any."""
        whole = -(-lengths // BLOCK) * BLOCK
        self.lengths = np.maximum(np.minimum(whole, self._reach), lengths)


def keep_the_overshoot(strategies: Strategies) -> Strategies:
    """F40."""
    return replace(strategies, new_cache=KeepsTheOvershoot)


def keep_whole_blocks(strategies: Strategies) -> Strategies:
    """F54."""
    return replace(strategies, new_cache=KeepsWholeBlocks)


def keep_rejected(strategies: Strategies) -> Strategies:
    """F43."""
    return replace(strategies, new_cache=KeepsRejected)
