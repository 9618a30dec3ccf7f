"""Every kind of cache, and entries that carry numbers, so that what a cache holds can be read off it."""

from __future__ import annotations

import torch

from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.cache.paged import PagedCache

HEADS, WIDTH, LAYERS = 2, 3, 2


def paged(size, blocks=4096):
    """Makes caches of one pool with blocks of so many tokens."""
    return PagedCache.factory(BlockPool(blocks, size))


CACHES = {
    "contiguous": lambda: ContiguousCache,
    "paged, 1 token a block": lambda: paged(1),
    "paged, 4 tokens a block": lambda: paged(4),
    "paged, 16 tokens a block": lambda: paged(16),
}


def block(numbers, layer=0):
    """Keys and values that carry the numbers (rows, nodes), apart by layer, head and place within the head."""
    base = torch.tensor(numbers, dtype=torch.float64)[:, None, :, None].expand(-1, HEADS, -1, WIDTH)
    mark = torch.arange(HEADS)[:, None, None] / 10 + torch.arange(WIDTH) / 100 + layer / 1000
    return base + mark, -(base + mark)


def written(cache, numbers):
    """Writes the numbers into every layer; the numbers each row now shows, by layer 0's first head."""
    seen = [cache.write(layer, *block(numbers, layer)) for layer in range(LAYERS)]
    reach = int(cache.lengths.max(initial=0)) + len(numbers[0])
    for layer, entries in enumerate(seen):
        own = [row[:reach] for row in entries.keys[:, 0, :, 0].round().long().tolist()]
        expected = block(own, layer)
        inside = [slice(0, int(length) + len(numbers[0])) for length in cache.lengths]
        for row, part in enumerate(inside):
            assert torch.equal(expected[0][row, :, part], entries.keys[row, :, part])
            assert torch.equal(expected[1][row, :, part], entries.values[row, :, part])
    lengths = [int(length) + len(numbers[0]) for length in cache.lengths]
    return [row[:length] for row, length in zip(own_numbers(seen[0]), lengths, strict=True)]


def own_numbers(entries):
    """What the entries of each row carry."""
    return entries.keys[:, 0, :, 0].round().long().tolist()


def held(cache):
    """What each row has committed: what stands before a block of one more token."""
    return [row[:-1] for row in written(cache, [[999]] * len(cache.lengths))]


def filled(make, rows):
    """A cache that holds these rows of numbers, committed in one block."""
    cache = make(len(rows))
    width = max(map(len, rows))
    written(cache, [row + [0] * (width - len(row)) for row in rows])
    cache.commit([list(range(1, len(row))) for row in rows])
    return cache
