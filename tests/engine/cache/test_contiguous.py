import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.canaries.faults.cache import KeepsRejected
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.base import Block

HEADS, WIDTH, LAYERS = 2, 3, 2


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
    return entries.keys[:, 0, :, 0].round().long().tolist()


def held(cache):
    """What each row has committed: what stands before a block of one more token."""
    return [row[:-1] for row in written(cache, [[999]] * len(cache.lengths))]


def filled(rows):
    """A cache that holds these rows of numbers, committed in one block."""
    cache = ContiguousCache(len(rows))
    width = max(map(len, rows))
    written(cache, [row + [0] * (width - len(row)) for row in rows])
    cache.commit([list(range(1, len(row))) for row in rows])
    return cache


def test_a_block_stands_behind_the_committed_entries():
    cache = filled([[1, 2, 3]])

    assert [[1, 2, 3, 4, 5]] == written(cache, [[4, 5]])
    assert [3] == cache.lengths.tolist()


def test_ragged_rows_each_continue_at_their_own_end():
    cache = filled([[1, 2, 3], [4], [5, 6]])

    assert [3, 1, 2] == cache.lengths.tolist()
    assert [[1, 2, 3, 7], [4, 8], [5, 6, 9]] == written(cache, [[7], [8], [9]])


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ([], [10]),
        ([1], [10, 11]),
        ([1, 2, 3, 4], [10, 11, 12, 13, 14]),
        ([1, 3], [10, 11, 13]),
        ([2], [10, 12]),
        ([2, 4], [10, 12, 14]),
        ([4], [10, 14]),
    ],
)
def test_only_the_root_and_the_accepted_path_are_kept_in_order(path, kept):
    cache = filled([[1, 2], [3]])
    written(cache, [[10, 11, 12, 13, 14]] * 2)
    cache.commit([path, []])

    assert [[1, 2, *kept], [3, 10]] == held(cache)


def test_uncommitted_nodes_are_overwritten_by_the_next_block():
    cache = filled([[1]])
    written(cache, [[10, 11, 12]])
    cache.commit([[]])

    assert [[1, 10, 20, 21]] == written(cache, [[20, 21]])


def test_rewinding_forgets_from_the_end_row_by_row():
    cache = filled([[1, 2, 3], [4, 5, 6]])
    cache.rewind(np.array([1, 3]))

    assert [[1], [4, 5, 6]] == held(cache)


def test_rewinding_to_more_than_there_is_raises():
    cache = filled([[1, 2, 3], [4]])

    with pytest.raises(ValueError, match=r"cannot rewind \[3, 1\] entries to \[3, 2\]"):
        cache.rewind(np.array([3, 2]))


def test_the_lengths_handed_to_rewind_stay_the_callers():
    cache, wanted = filled([[1, 2, 3]]), np.array([2])
    cache.rewind(wanted)
    cache.commit([[]])

    assert [2] == wanted.tolist()


def test_selected_rows_keep_their_entries_in_the_new_order():
    cache = filled([[1, 2, 3], [4], [5, 6]])
    cache.select([2, 0])

    assert [[5, 6], [1, 2, 3]] == held(cache)


def test_no_rows_may_be_left():
    cache = filled([[1, 2, 3], [4]])
    cache.select([])

    assert [] == cache.lengths.tolist()


def test_growing_keeps_what_was_there():
    cache = filled([[1, 2], [3]])
    numbers = list(range(100, 400))
    for number in numbers:
        cache.write(0, *block([[number]] * 2))
        cache.write(1, *block([[number]] * 2, layer=1))
        cache.commit([[], []])

    assert [[1, 2, *numbers], [3, *numbers]] == held(cache)


paths = st.lists(st.integers(1, 5), unique=True, max_size=5).map(sorted)
steps = st.lists(st.tuples(st.lists(paths, min_size=3, max_size=3), st.integers(0, 2), st.booleans()), max_size=30)


@settings(deadline=None)
@given(steps)
def test_after_any_rounds_the_cache_equals_a_fresh_one(rounds):
    """Trees of six nodes with any accepted path, rewinds and swapped rows against plain lists of what must be left."""
    cache, rows = filled([[1, 2], [3], [4, 5, 6]]), [[1, 2], [3], [4, 5, 6]]
    for turn, (accepted, forgotten, swap) in enumerate(rounds):
        numbers = [[1000 * (turn + 1) + 10 * row + node for node in range(6)] for row in range(3)]
        written(cache, numbers)
        cache.commit(accepted)
        rows = [[*row, new[0], *(new[i] for i in path)] for row, new, path in zip(rows, numbers, accepted, strict=True)]
        rows = [row[: max(1, len(row) - forgotten)] for row in rows]
        cache.rewind(np.array([len(row) for row in rows]))
        if swap:
            cache.select([1, 2, 0])
            rows = [rows[1], rows[2], rows[0]]

    assert rows == held(cache) == held(filled(rows))


@pytest.mark.parametrize("kind", [ContiguousCache, KeepsRejected])
def test_rejected_entries_are_never_seen_again(kind, small):
    """The table model reads its history from the cache: one stale entry changes what it says."""
    model, cache = small.table_model(), kind(1)
    model.score(Block.chains([[0, 1, 2]]), cache)
    cache.commit([[1, 2]])
    model.score(Block.chains([[3, 1, 2]]), cache)
    cache.commit([[]])
    seen = model.score(Block.chains([[2]]), cache)[0, 0]

    assert (kind is ContiguousCache) == np.array_equal(model.law([0, 1, 2, 3, 2]), seen)
