"""The memory budget: blocks of the target's cache and of the draft's, and the prefixes kept among the former.

A row that is under way may always grow by one round: whoever comes next has to leave it the blocks for that. Knows
nothing of order: who has to go where it gets tight is the scheduler's to say.
"""

from __future__ import annotations

from collections.abc import Sequence as Many

from ..cache.blocks import BlockPool
from ..cache.paged import PagedCache, Window
from ..cache.radix import RadixTree
from ..cache.sequence import Sequence
from ..errors import OutOfBlocks
from ..request import Request
from .records import Blocks
from .row import Row


class Memory:
    """Two pools and what is kept of earlier requests; `draft` is None for a drafter without a cache in blocks.

    `window` is how far the target's layers see, None: all the way; `paged` makes the target's cache of the rows.
    """

    def __init__(
        self,
        pool: BlockPool,
        *,
        draft: BlockPool | None = None,
        prefixes: RadixTree | None = None,
        window: Window | None = None,
        paged: type[PagedCache] = PagedCache,
    ) -> None:
        self.pool, self.draft, self.window, self.paged = pool, draft, window, paged
        self.prefixes = prefixes or RadixTree(pool, budget=0)

    def refuse(self, request: Request, reach: int) -> None:
        """Raises OutOfBlocks for a request that a pool could not hold if it had it for itself.

        `reach` is how many tokens a round writes at most.
        """
        for pool in filter(None, (self.pool, self.draft)):
            needed = pool.blocks_for(len(request.prompt) + request.max_tokens + reach)
            if needed > pool.blocks:
                raise OutOfBlocks(
                    f"request {request.name}: {len(request.prompt)} prompt tokens, {request.max_tokens} to generate "
                    f"and {reach} under judgement take {needed} blocks of {pool.size} tokens, and the pool has "
                    f"{pool.blocks}; shorten the request or give the pool more blocks"
                )

    def fits(self, rows: Many[Row], reach: int) -> bool:
        """Whether there is room for all that each row has to be fed and for one round; unused prefixes make way."""
        missing = sum(self._missing(row, len(row.fed) + reach) for row in rows)
        if missing > self.pool.free:
            self.prefixes.evict(missing - self.pool.free)
        return missing <= self.pool.free and self._draft_fits(rows, reach)

    def cache(self, rows: Many[Row]) -> PagedCache:
        """The target's cache over these rows, for one pass."""
        return self.paged(self.pool, [row.held for row in rows], self.window)

    def open(self, row: Row) -> None:
        """The row begins from the longest prefix that is kept, which is locked while it is under way."""
        fed = row.fed
        row.match = self.prefixes.match(fed if row.answer.tokens else fed[:-1], row.job.tenant)
        row.sequence = self.prefixes.begin(row.match)

    def open_empty(self, row: Row) -> None:
        """The row begins from nothing, so that it holds no prefix beside what it writes."""
        row.sequence = Sequence(self.pool)

    def keep(self, row: Row) -> None:
        """What the row committed is kept for others, as whole blocks.

        Behind the end of an answer lies what the last round accepted and nobody was told: that is not kept.
        """
        self.prefixes.insert(row.answer.context, row.held, row.job.tenant)

    def close(self, row: Row) -> None:
        """What the row committed is kept, and the row holds nothing any more."""
        self.keep(row)
        self.abandon(row)

    def abandon(self, row: Row) -> None:
        """The row holds nothing any more, and nothing more is kept of it."""
        row.held.release()
        if row.match is not None:
            self.prefixes.unlock(row.match)
        row.sequence = row.match = None

    @property
    def peak(self) -> Blocks:
        """The most blocks that were in use since `used` was last noted as the peak."""
        return Blocks(self.pool.peak, self.draft.peak if self.draft else 0, self.prefixes.held)

    def count_anew(self) -> None:
        """The peak is what is in use now."""
        for pool in filter(None, (self.pool, self.draft)):
            pool.peak = pool.used

    @property
    def used(self) -> Blocks:
        """Blocks in use."""
        return Blocks(self.pool.used, self.draft.used if self.draft else 0, self.prefixes.held)

    def _missing(self, row: Row, tokens: int) -> int:
        """Blocks of the target's pool that the row takes on the way to so many tokens."""
        if row.sequence is None:
            return self.pool.blocks_for(tokens)
        return row.sequence.to_add(tokens - row.sequence.length) + len(row.sequence.to_copy())

    def _draft_fits(self, rows: Many[Row], reach: int) -> bool:
        """Drafts share no prefixes, so what all rows may come to hold is a sum."""
        if self.draft is None:
            return True
        return sum(self.draft.blocks_for(len(row.fed) + reach) for row in rows) <= self.draft.blocks
