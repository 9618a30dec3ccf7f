"""Plants in the key-value cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from ...engine.cache.base import Entries
from ...engine.cache.contiguous import ContiguousCache
from ..targets.strategies import Strategies


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


def keep_rejected(strategies: Strategies) -> Strategies:
    """F43."""
    return replace(strategies, new_cache=KeepsRejected)
