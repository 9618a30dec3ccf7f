"""A cache of blocks from a pool: any sequences, side by side for one pass or for many.

A block of nodes is written behind a row's committed tokens, into blocks that no one else holds; ancestors are never
copied but for the last, partly filled block where it is shared. `commit` compacts the accepted path and gives back, at
once, every block that holds nothing any more.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .base import Entries
from .blocks import BlockPool
from .sequence import HOLE, Sequence

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """Every layer sees at most `width` entries, its own included; at most `rollback` committed ones are taken back."""

    width: int
    rollback: int

    def first(self, length: int) -> int:
        """The first entry that can still be seen once `length` are committed: by a root after the longest rollback."""
        return max(0, length - self.rollback - self.width + 1)

    def misses(self, length: int, gone: int) -> bool:
        """Whether a root behind `length` entries would see one of the first `gone`, which are held no more."""
        return 0 < length and max(0, length - self.width + 1) < gone


class PagedCache:
    """Rows are sequences of one pool. What the rows' owners do to them elsewhere is not seen: make the cache anew.

    With a window, blocks are given back that no layer can see again.
    """

    def __init__(self, pool: BlockPool, sequences: Iterable[Sequence] = (), window: Window | None = None) -> None:
        self.pool = pool
        self.window = window
        self.sequences = list(sequences)
        self.lengths: Ints = np.zeros(0, np.int64)
        self._room: list[int] = []
        self._asked = False
        self._width = self._reach = 0
        self._slots: slice | Tensor = slice(0)
        self._table: slice | Tensor = slice(0)
        self._counted()

    @classmethod
    def factory(cls, pool: BlockPool, window: Window | None = None) -> Callable[[int], PagedCache]:
        """Makes caches of so many empty rows, for a decoder that drops its cache: the blocks are given back then."""

        def made(rows: int) -> PagedCache:
            cache = cls(pool, window=window)
            weakref.finalize(cache, _released, cache.sequences)
            cache.join(rows)
            return cache

        return made

    def missing(self, nodes: Many[int]) -> int:
        """Free blocks that a block of `nodes[row]` nodes a row takes."""
        left = Counter[int]()  # what is shared by two rows of ours is copied by one of them only
        copies = 0
        for sequence in self.sequences:
            for place in sequence.to_copy():
                block = sequence.blocks[place]
                copies += self.pool.references(block) - left[block] > 1
                left[block] += 1
        return copies + sum(map(Sequence.to_add, self.sequences, nodes))

    def reserve(self, nodes: Many[int]) -> None:
        """Makes room for the next block, `nodes[row]` nodes in each row; what is written beyond them is padding.

        Raises OutOfBlocks, and then nothing has changed. Without it `write` makes room for all nodes of every row.
        """
        self._make_room(nodes)
        self._asked = True

    def _make_room(self, nodes: Many[int]) -> None:
        fresh = iter(self.pool.allocate(self.missing(nodes)))
        for sequence, count in zip(self.sequences, nodes, strict=True):
            sequence.make_room(count, fresh)
        self._room = list(nodes)
        self._width = 0

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """Adds a block behind the committed tokens; returns everything up to the end of the longest row's block."""
        nodes = keys.shape[2]
        if nodes != self._width:
            if not self._asked:
                self._make_room([nodes] * len(self.sequences))
            self._placed(nodes)
        self.pool.store.put(layer, self._slots, keys, values)
        if isinstance(self._table, slice):
            return self.pool.store.take(layer, self._table)
        keys, values = self.pool.store.take(layer, self._table)
        return Entries(keys.narrow(2, 0, self._reach), values.narrow(2, 0, self._reach))

    def commit(self, paths: Many[Many[int]]) -> None:
        """Keeps root and accepted path of each row, compacted; blocks that hold nothing any more are free.

        Raises ValueError where no block was written that has those nodes.
        """
        if not self._width or any(max(path, default=0) >= room for path, room in zip(paths, self._room, strict=True)):
            raise ValueError(f"cannot commit {[list(path) for path in paths]} of blocks of {self._room} nodes")
        self._compact(paths)
        for sequence, path in zip(self.sequences, paths, strict=True):
            sequence.truncate(sequence.length + 1 + len(path))
        self._forget()
        self._counted()

    def rewind(self, lengths: Ints) -> None:
        """Forgets tokens from the end. Raises ValueError where a row does not hold what it should keep."""
        if (lengths > self.lengths).any():
            raise ValueError(f"cannot rewind {self.lengths.tolist()} entries to {lengths.tolist()}")
        for sequence, length in zip(self.sequences, lengths.tolist(), strict=True):
            if self.window and self.window.misses(length, sequence.gone):
                raise ValueError(f"cannot rewind to {length} entries: the first {sequence.gone} have left the window")
        for sequence, length in zip(self.sequences, lengths.tolist(), strict=True):
            sequence.truncate(length)
        self._counted()

    def select(self, rows: Many[int]) -> None:
        """Keeps these rows, in this order; the others give back their blocks. A row named twice is forked."""
        kept = [
            self.sequences[row].fork() if row in rows[:place] else self.sequences[row] for place, row in enumerate(rows)
        ]
        for row, sequence in enumerate(self.sequences):
            if row not in rows:
                sequence.release()
        self.sequences[:] = kept
        self._counted()

    def join(self, rows: int) -> None:
        """Adds this many empty rows at the end."""
        self.sequences.extend(Sequence(self.pool) for _ in range(rows))
        self._counted()

    def append(self, other: PagedCache) -> None:
        """Takes over the rows of another cache on the same pool, at the end."""
        self.sequences += other.sequences
        other.sequences.clear()
        other._counted()
        self._counted()

    def _forget(self) -> None:
        """Gives back what has left the window; a round's rejections are known by now."""
        if self.window:
            for sequence in self.sequences:
                sequence.forget(self.window.first(sequence.length))

    def _counted(self) -> None:
        self.lengths = np.array([sequence.length for sequence in self.sequences], np.int64)
        self._room, self._width, self._asked = [], 0, False

    def _compact(self, paths: Many[Many[int]]) -> None:
        source: list[int] = []
        target: list[int] = []
        for sequence, path in zip(self.sequences, paths, strict=True):
            if path and path[-1] != len(path):  # nodes on a path increase, so only a gap makes its last one larger
                slots = sequence.slots(sequence.length, sequence.length + path[-1] + 1)
                source += [slots[node] for node in path]
                target += slots[1 : len(path) + 1]
        if source:
            self.pool.store.move(torch.tensor(source), torch.tensor(target))

    def _placed(self, nodes: int) -> None:
        """Where a block of this width goes and what is read afterwards: worked out once for all layers."""
        self._width, self._reach = nodes, int(self.lengths.max(initial=0)) + nodes
        sink = self.pool.sink * self.pool.size
        self._slots = torch.tensor(
            [
                [*sequence.slots(sequence.length, sequence.length + min(room, nodes)), *[sink] * (nodes - room)]
                for sequence, room in zip(self.sequences, self._room, strict=True)
            ],
            dtype=torch.long,
        ).view(len(self.sequences), nodes)
        wide = self.pool.blocks_for(self._reach)
        self._table = torch.tensor(
            [
                [*(self.pool.blank if block == HOLE else block for block in sequence.blocks[:wide])]
                + [self.pool.blank] * (wide - len(sequence.blocks))
                for sequence in self.sequences
            ],
            dtype=torch.long,
        ).view(len(self.sequences), wide)
        self._side_by_side(nodes)

    def _side_by_side(self, nodes: int) -> None:
        """One sequence whose blocks follow each other is read and written without an index."""
        if len(self.sequences) != 1 or self._room[0] < nodes:
            return
        (sequence,), size = self.sequences, self.pool.size
        first, count = sequence.blocks[0], self.pool.blocks_for(self._reach)
        if sequence.blocks[:count] == list(range(first, first + count)):
            self._table = slice(first * size, first * size + self._reach)
            self._slots = slice(first * size + sequence.length, first * size + self._reach)


def _released(sequences: list[Sequence]) -> None:
    for sequence in sequences:
        sequence.release()
