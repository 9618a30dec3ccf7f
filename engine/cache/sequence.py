"""One sequence's table of blocks: which physical block holds which of its tokens.

Blocks may be shared with other sequences or a prefix tree; a shared block is copied before it is written. Knows how
many tokens are committed, not which.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many

import torch

from .blocks import BlockPool

HOLE = -1  # in a table: the block left the window, and nobody may see it any more


class Sequence:
    """`length` committed tokens in `blocks`, whose references it holds; those it is given become its own."""

    def __init__(self, pool: BlockPool, blocks: Many[int] = (), length: int = 0) -> None:
        if pool.blocks_for(length) != len(blocks):
            raise ValueError(f"{length} tokens do not end in block {len(blocks)} of {pool.size} tokens each")
        self.pool = pool
        self.blocks = list(blocks)
        self.length = length

    def fork(self) -> Sequence:
        """Another sequence with the same committed tokens; the blocks are shared until one of the two writes."""
        blocks = self.blocks[: self.pool.blocks_for(self.length)]
        self.pool.share(block for block in blocks if block != HOLE)
        return Sequence(self.pool, blocks, self.length)

    def release(self) -> None:
        """Holds nothing any more."""
        self.truncate(0)

    def truncate(self, length: int) -> None:
        """Keeps the first `length` tokens and at once frees every block behind them."""
        keep = self.pool.blocks_for(length)
        self.pool.release(block for block in self.blocks[keep:] if block != HOLE)
        del self.blocks[keep:]
        self.length = length

    @property
    def gone(self) -> int:
        """How many of the first tokens are held no more."""
        return self.blocks.count(HOLE) * self.pool.size

    def forget(self, before: int) -> None:
        """Frees the blocks whose tokens all stand before this place; the others keep their places in the table."""
        for place in range(self.blocks.count(HOLE), before // self.pool.size):
            self.pool.release([self.blocks[place]])
            self.blocks[place] = HOLE

    def to_copy(self) -> list[int]:
        """Places in the table of the blocks that the next write would change and that others hold too."""
        first = self.length // self.pool.size
        return [place for place in range(first, len(self.blocks)) if self.pool.references(self.blocks[place]) > 1]

    def to_add(self, nodes: int) -> int:
        """Blocks missing at the end for `nodes` more tokens."""
        return max(0, self.pool.blocks_for(self.length + nodes) - len(self.blocks))

    def make_room(self, nodes: int, fresh: Iterator[int]) -> None:
        """Afterwards `nodes` tokens may be written behind the committed ones; blocks are taken from `fresh`."""
        for place in self.to_copy():
            shared, self.blocks[place] = self.blocks[place], next(fresh)
            self._copy(shared, self.blocks[place])
            self.pool.release([shared])
        self.blocks.extend(next(fresh) for _ in range(self.to_add(nodes)))

    def slots(self, start: int, stop: int) -> list[int]:
        """Physical slots of the tokens from `start` to before `stop`."""
        size = self.pool.size
        return [self.blocks[place // size] * size + place % size for place in range(start, stop)]

    def _copy(self, source: int, target: int) -> None:
        places = torch.arange(self.pool.size)
        self.pool.store.move(source * self.pool.size + places, target * self.pool.size + places)
