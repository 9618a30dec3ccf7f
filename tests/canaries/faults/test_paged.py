"""Each planted cache is wrong in one thing."""

import pytest
import torch

from draftgate.canaries.faults import paged
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.paged import PagedCache, Window

PLANTED = {
    paged.keep_rejected_entries: paged.KeepsRejectedEntries,
    paged.roll_back_too_far: paged.RollsBackTooFar,
    paged.step_from_the_root: paged.StepsFromTheRoot,
    paged.evict_too_early: paged.EvictsTooEarly,
    paged.pad_into_slot_zero: paged.PadsIntoSlotZero,
    paged.keep_the_first_nodes: paged.KeepsTheFirstNodes,
    paged.one_length_for_all: paged.OneLengthForAll,
}


def written(cache, rows):
    """What is read after a block whose entries are these numbers; shorter rows are padded."""
    width = max(map(len, rows))
    block = torch.tensor([[*row, *[-1.0] * (width - len(row))] for row in rows]).float().view(len(rows), 1, width, 1)
    cache.reserve([len(row) for row in rows])
    return cache.write(0, block, block).keys.view(len(rows), -1)


def filled(kind, prompts, window=None):
    cache = kind(BlockPool(64, 4), window=window)
    cache.join(len(prompts))
    written(cache, prompts)
    cache.commit([list(range(1, len(prompt))) for prompt in prompts])
    return cache


def held(cache, row=0):
    """The committed entries of a row."""
    sequence = cache.sequences[row]
    keys, _ = cache.pool.store.take(0, torch.tensor([sequence.blocks]))
    return keys.view(-1)[: sequence.length].tolist()


@pytest.mark.parametrize("plant", PLANTED)
def test_the_plant_is_this_cache_and_a_prompt_alone_shows_nothing(plant):
    kind = PLANTED[plant]

    assert kind is plant(Strategies()).paged
    assert [1.0, 2.0, 3.0] == held(filled(kind, [[1, 2, 3]]))


def rounds(kind, path):
    cache = filled(kind, [[1, 2]])
    written(cache, [[3, 4, 5]])
    cache.commit([path])
    return held(cache)


def test_the_entry_behind_the_accepted_ones_stays():
    assert [1, 2, 3, 4] == rounds(PagedCache, [1])
    assert [1, 2, 3, 4, 5] == rounds(paged.KeepsRejectedEntries, [1]) == rounds(PagedCache, [1, 2])


def test_one_entry_too_many_is_forgotten_after_a_rejection_only():
    assert [1, 2, 3] == rounds(paged.RollsBackTooFar, [1])
    assert [1, 2, 3, 4, 5] == rounds(paged.RollsBackTooFar, [1, 2])


def test_a_step_without_drafts_reads_the_root_in_place_of_what_was_accepted():
    found = {}
    for kind in (PagedCache, paged.StepsFromTheRoot):
        cache = filled(kind, [[1]])
        written(cache, [[3, 4, 5]])
        cache.commit([[1, 2]])
        found[kind] = written(cache, [[6]]).view(-1).tolist()

    assert [1, 3, 4, 5, 6] == found[PagedCache]
    assert [1, 3, 3, 3, 6] == found[paged.StepsFromTheRoot]


def test_a_window_gives_back_what_a_rejection_still_needs():
    found = {}
    for kind in (PagedCache, paged.EvictsTooEarly):
        cache = filled(kind, [list(range(10))], Window(6, 0))
        written(cache, [[1, 2, 3, 4]])
        cache.commit([[]])
        found[kind] = cache.sequences[0].gone

    assert found[PagedCache] < found[paged.EvictsTooEarly]


def test_padding_overwrites_the_first_slot():
    found = {}
    for kind in (PagedCache, paged.PadsIntoSlotZero):
        cache = filled(kind, [[1, 2], [3, 4]])
        written(cache, [[5], [6, 7, 8]])
        cache.commit([[], [1, 2]])
        found[kind] = held(cache)

    assert [1, 2, 5] == found[PagedCache]
    assert [-1, 2, 5] == found[paged.PadsIntoSlotZero]


def test_of_a_tree_the_first_nodes_are_kept():
    assert [1, 2, 3, 5] == rounds(PagedCache, [2])
    assert [1, 2, 3, 4] == rounds(paged.KeepsTheFirstNodes, [2])


def test_every_row_commits_what_the_first_one_accepted():
    cache = filled(paged.OneLengthForAll, [[1, 2], [3, 4]])
    written(cache, [[5, 6, 7], [8, 9, 10]])
    cache.commit([[1], [1, 2]])

    assert [1, 2, 5, 6] == held(cache)
    assert [3, 4, 8, 9] == held(cache, 1)
