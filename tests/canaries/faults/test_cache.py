"""The planted cache keeps one rejected entry, and is honest in all else."""

import numpy as np
import pytest
import torch

from draftgate.canaries.faults.cache import (
    KeepsRejected,
    KeepsTheOvershoot,
    KeepsWholeBlocks,
    keep_rejected,
    keep_the_overshoot,
    keep_whole_blocks,
)
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache

NODES = 4  # a root and three drafts


def lengths(cache, path):
    """Entries of one row after a prompt of two tokens and a round that accepted `path`."""
    for nodes, committed in ((2, [1]), (NODES, path)):
        block = torch.arange(nodes, dtype=torch.float32).reshape(1, 1, nodes, 1)
        cache.write(0, block, block)
        cache.commit([committed])
    return int(cache.lengths[0])


@pytest.mark.parametrize("path", [[], [1], [1, 2]])
def test_after_a_rejection_one_entry_too_many_stays(path):
    assert 2 + 1 + len(path) == lengths(ContiguousCache(1), path)
    assert 2 + 1 + len(path) + 1 == lengths(KeepsRejected(1), path)


def test_after_a_full_acceptance_all_is_well():
    assert lengths(ContiguousCache(1), [1, 2, 3]) == lengths(KeepsRejected(1), [1, 2, 3])


def test_the_entry_that_stays_is_the_rejected_one():
    cache = KeepsRejected(1)
    lengths(cache, [1])
    block = torch.full((1, 1, 1, 1), 9.0)

    stored = cache.write(0, block, block)

    assert np.array_equal([0, 1, 0, 1, 2, 9], stored.keys[0, 0, :, 0].numpy())


@pytest.mark.parametrize("cache", [KeepsTheOvershoot, KeepsWholeBlocks])
def test_within_an_answer_what_a_session_keeps_is_honest(cache):
    assert lengths(ContiguousCache(1), [1]) == lengths(cache(1), [1])


@pytest.mark.parametrize(
    ("cache", "kept"),
    [(ContiguousCache, 3), (KeepsTheOvershoot, 4), (KeepsWholeBlocks, 6)],  # 4 committed, 2 rejected behind them
)
def test_before_the_next_turn_too_much_stays(cache, kept):
    made = cache(1)
    lengths(made, [1])
    made.rewind(np.array([3]))

    assert [kept] == made.lengths.tolist()


def test_a_whole_block_is_kept_as_it_is():
    cache = KeepsWholeBlocks(1)
    block = torch.zeros(1, 1, 9, 1)
    cache.write(0, block, block)
    cache.commit([list(range(1, 9))])
    cache.rewind(np.array([8]))

    assert [8] == cache.lengths.tolist()


@pytest.mark.parametrize(
    ("plant", "cache"),
    [(keep_rejected, KeepsRejected), (keep_the_overshoot, KeepsTheOvershoot), (keep_whole_blocks, KeepsWholeBlocks)],
)
def test_only_the_cache_is_exchanged(plant, cache):
    own = Strategies()
    planted = plant(own)

    assert planted.new_cache is cache
    assert (own.verifier, own.randomness) == (planted.verifier, planted.randomness)
