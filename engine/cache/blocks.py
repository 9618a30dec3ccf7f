"""The pool of physical blocks: which are free, and how many hold each of the others.

Knows nothing of tokens or sequences. Whoever allocates a block holds one reference; who shares it, one more; with the
last release it is free again. Two blocks beyond those of the pool are never handed out: `blank` is all zeros and stands
where a table has nothing, `sink` takes what is written for padding and is never read.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ..errors import EngineError, OutOfBlocks
from .store import FloatStore, Store, StoreFactory


class BlockPool:
    """`blocks` blocks of `size` tokens each."""

    def __init__(self, blocks: int, size: int, store: StoreFactory = FloatStore) -> None:
        if blocks < 1 or size < 1:
            raise EngineError(f"a pool of {blocks} blocks of {size} tokens holds nothing; give at least 1 of each")
        self.blocks, self.size = blocks, size
        self.blank, self.sink = blocks, blocks + 1
        self.store: Store = store(blocks + 2, size)
        self._free = list(range(blocks))  # a heap: the lowest first, so that a sequence's blocks lie side by side
        self._references = [0] * blocks
        self.peak = 0  # the most blocks in use since it was last set back

    @property
    def free(self) -> int:
        """Blocks that may be allocated."""
        return len(self._free)

    @property
    def used(self) -> int:
        """Blocks that somebody holds."""
        return self.blocks - len(self._free)

    def references(self, block: int) -> int:
        """How many hold it."""
        return self._references[block]

    def blocks_for(self, tokens: int) -> int:
        """Blocks that so many tokens fill, the last one perhaps in part."""
        return -(-tokens // self.size)

    def allocate(self, count: int) -> list[int]:
        """So many blocks, each with one reference. Raises OutOfBlocks, having taken nothing, where fewer are free."""
        if count > len(self._free):
            raise OutOfBlocks(
                f"{count} blocks of {self.size} tokens are needed and {len(self._free)} of {self.blocks} are free; "
                "end or preempt a request, or give the pool more blocks"
            )
        taken = [heapq.heappop(self._free) for _ in range(count)]
        for block in taken:
            self._references[block] = 1
        self.peak = max(self.peak, self.used)
        return taken

    def share(self, blocks: Iterable[int]) -> None:
        """One more reference each. Raises ValueError for a block that nobody holds."""
        for block in blocks:
            self._held(block)
            self._references[block] += 1

    def release(self, blocks: Iterable[int]) -> None:
        """One reference less each; those without any are free. Raises ValueError for a block that nobody holds."""
        for block in blocks:
            self._held(block)
            self._references[block] -= 1
            if not self._references[block]:
                heapq.heappush(self._free, block)

    def _held(self, block: int) -> None:
        if self._references[block] < 1:
            raise ValueError(f"block {block} is free: nobody holds it, so it can be neither shared nor released")
