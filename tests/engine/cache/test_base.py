"""The contract: what holds for every cache, whatever stores it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caches import CACHES, block, filled, held, own_numbers, written
from draftgate.engine.cache.base import Entries
from draftgate.engine.models.base import Block


@pytest.fixture(params=CACHES)
def make(request):
    return CACHES[request.param]()


def test_a_block_stands_behind_the_committed_entries(make):
    cache = filled(make, [[1, 2, 3]])

    assert [[1, 2, 3, 4, 5]] == written(cache, [[4, 5]])
    assert [3] == cache.lengths.tolist()


def test_ragged_rows_each_continue_at_their_own_end(make):
    cache = filled(make, [[1, 2, 3], [4], [5, 6]])

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
def test_only_the_root_and_the_accepted_path_are_kept_in_order(path, kept, make):
    cache = filled(make, [[1, 2], [3]])
    written(cache, [[10, 11, 12, 13, 14]] * 2)
    cache.commit([path, []])

    assert [[1, 2, *kept], [3, 10]] == held(cache)


def test_uncommitted_nodes_are_overwritten_by_the_next_block(make):
    cache = filled(make, [[1]])
    written(cache, [[10, 11, 12]])
    cache.commit([[]])

    assert [[1, 10, 20, 21]] == written(cache, [[20, 21]])


def test_a_block_that_was_not_committed_is_overwritten_by_a_wider_or_narrower_one(make):
    cache = filled(make, [[1], [2, 3]])
    written(cache, [[10, 11]] * 2)
    written(cache, [[20, 21, 22, 23, 24, 25]] * 2)

    assert [[1, 30], [2, 3, 31]] == written(cache, [[30], [31]])


def test_rewinding_forgets_from_the_end_row_by_row(make):
    cache = filled(make, [[1, 2, 3], [4, 5, 6]])
    cache.rewind(np.array([1, 3]))

    assert [[1], [4, 5, 6]] == held(cache)


def test_rewinding_to_more_than_there_is_raises(make):
    cache = filled(make, [[1, 2, 3], [4]])

    with pytest.raises(ValueError, match=r"cannot rewind \[3, 1\] entries to \[3, 2\]"):
        cache.rewind(np.array([3, 2]))
    assert [[1, 2, 3], [4]] == held(cache)


def test_the_lengths_handed_to_rewind_stay_the_callers(make):
    cache, wanted = filled(make, [[1, 2, 3]]), np.array([2])
    cache.rewind(wanted)
    written(cache, [[4]])
    cache.commit([[]])

    assert [2] == wanted.tolist()


def test_selected_rows_keep_their_entries_in_the_new_order(make):
    cache = filled(make, [[1, 2, 3], [4], [5, 6]])
    cache.select([2, 0])

    assert [[5, 6], [1, 2, 3]] == held(cache)


def test_a_row_selected_twice_goes_two_ways(make):
    cache = filled(make, [[1, 2, 3], [4]])
    cache.select([0, 1, 0])
    written(cache, [[5], [6], [7]])
    cache.commit([[], [], []])

    assert [[1, 2, 3, 5], [4, 6], [1, 2, 3, 7]] == held(cache)


def test_no_rows_may_be_left(make):
    cache = filled(make, [[1, 2, 3], [4]])
    cache.select([])

    assert [] == cache.lengths.tolist()


def test_rows_that_join_are_empty_and_stand_at_the_end(make):
    cache = filled(make, [[1, 2, 3]])
    cache.join(2)

    assert [3, 0, 0] == cache.lengths.tolist()
    assert [[1, 2, 3, 7], [8], [9]] == written(cache, [[7], [8], [9]])


def test_rows_may_join_when_none_is_left(make):
    cache = filled(make, [[1, 2, 3]])
    cache.select([])
    cache.join(1)

    assert [[7, 8]] == written(cache, [[7, 8]])


def test_a_row_that_joins_holds_nothing_of_one_that_left(make):
    cache = filled(make, [[1, 2, 3], [4, 5]])
    cache.select([1])
    cache.join(1)
    written(cache, [[6], [7]])
    cache.commit([[], []])

    assert [[4, 5, 6], [7]] == held(cache)


def test_growing_keeps_what_was_there(make):
    cache = filled(make, [[1, 2], [3]])
    numbers = list(range(100, 400))
    for number in numbers:
        cache.write(0, *block([[number]] * 2))
        cache.write(1, *block([[number]] * 2, layer=1))
        cache.commit([[], []])

    assert [[1, 2, *numbers], [3, *numbers]] == held(cache)


paths = st.lists(st.integers(1, 5), unique=True, max_size=5).map(sorted)
steps = st.lists(
    st.tuples(st.lists(paths, min_size=3, max_size=3), st.integers(0, 2), st.sampled_from(["", "swap", "join"])),
    max_size=30,
)


@pytest.mark.parametrize("kind", CACHES)
@settings(deadline=None)
@given(steps)
def test_after_any_rounds_the_cache_holds_what_was_committed(kind, rounds):
    """Trees of six nodes with any accepted path, rewinds, swapped and new rows against plain lists of what is left."""
    make = CACHES[kind]()
    cache, rows = filled(make, [[1, 2], [3], [4, 5, 6]]), [[1, 2], [3], [4, 5, 6]]
    for turn, (accepted, forgotten, change) in enumerate(rounds):
        numbers = [[1000 * (turn + 1) + 10 * row + node for node in range(6)] for row in range(3)]
        written(cache, numbers)
        cache.commit(accepted)
        rows = [[*row, new[0], *(new[i] for i in path)] for row, new, path in zip(rows, numbers, accepted, strict=True)]
        rows = [row[: max(1, len(row) - forgotten)] for row in rows]
        cache.rewind(np.array([len(row) for row in rows]))
        if change == "swap":
            cache.select([1, 2, 0])
            rows = [rows[1], rows[2], rows[0]]
        if change == "join":
            cache.select([2, 0])
            cache.join(1)
            rows = [rows[2], rows[0], []]

    assert rows == held(cache)


def test_rejected_entries_are_never_seen_again(make, small):
    """The table model reads its history from the cache: one stale entry changes what it says."""
    assert np.array_equal(small.table_model().law([0, 1, 2, 3, 2]), after_a_rejection(small.table_model(), make(1)))


def after_a_rejection(model, cache):
    """What the model says after the tokens 0 1 2 3 2, where 1 and 2 were rejected behind the 3."""
    model.score(Block.chains([[0, 1, 2]]), cache)
    cache.commit([[1, 2]])
    model.score(Block.chains([[3, 1, 2]]), cache)
    cache.commit([[]])
    return model.score(Block.chains([[2]]), cache)[0, 0]


def test_appended_rows_stand_at_the_end_and_the_other_cache_has_none(make):
    for first, more in ([[[1, 2, 3]], [[4, 5], [6]]], [[[1]], [list(range(2, 90))]], [[], [[4, 5]]]):
        cache = filled(make, first) if first else make(0)
        other = filled(make, more)
        cache.append(other)

        assert [] == other.lengths.tolist()
        assert [*first, *more] == held(cache)


def test_appended_rows_go_on_by_themselves(make):
    cache = filled(make, [[1, 2]])
    cache.append(filled(make, [[3, 4, 5]]))
    written(cache, [[6, 7], [8, 9]])
    cache.commit([[1], []])
    cache.select([1, 0])

    assert [[3, 4, 5, 8], [1, 2, 6, 7]] == held(cache)


def test_room_may_be_kept_for_the_nodes_of_each_row_alone(make):
    """What is written beyond them is padding, and does no harm to what is committed."""
    cache = filled(make, [[1, 2, 3], [4]])
    cache.reserve([1, 3])
    keys = cache.write(0, *block([[5, 0, 0], [6, 7, 8]])).keys
    cache.write(1, *block([[5, 0, 0], [6, 7, 8]], layer=1))

    assert [1, 2, 3, 5] == own_numbers(Entries(keys, keys))[0][:4]
    assert [4, 6, 7, 8] == own_numbers(Entries(keys, keys))[1][:4]
    cache.commit([[], [1, 2]])
    assert [[1, 2, 3, 5], [4, 6, 7, 8]] == held(cache)
