import pytest
import torch

from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.sequence import HOLE, Sequence


def grown(pool, tokens):
    """A sequence of so many committed tokens."""
    sequence = Sequence(pool)
    sequence.make_room(tokens, iter(pool.allocate(sequence.to_add(tokens))))
    sequence.truncate(tokens)
    return sequence


def test_what_lies_behind_the_last_token_is_freed_at_once():
    pool = BlockPool(8, 4)
    sequence = grown(pool, 9)
    sequence.make_room(12, iter(pool.allocate(sequence.to_add(12))))
    sequence.truncate(10)

    assert ([0, 1, 2], 3) == (sequence.blocks, pool.used)


def test_a_fork_shares_blocks_until_one_of_the_two_writes():
    pool = BlockPool(8, 4)
    pool.store.put(0, slice(0, 4), *[torch.arange(4.0)[None, None, :, None]] * 2)
    sequence = grown(pool, 6)
    other = sequence.fork()
    used = pool.used
    other.make_room(1, iter(pool.allocate(len(other.to_copy()) + other.to_add(1))))

    assert 2 == used
    assert ([0, 1], [0, 2]) == (sequence.blocks, other.blocks)
    assert [] == sequence.to_copy() == other.to_copy()
    assert [2, 1, 1] == [pool.references(block) for block in range(3)]


def test_a_copy_holds_what_the_shared_block_held():
    pool = BlockPool(4, 4)
    sequence = grown(pool, 3)
    numbers = torch.tensor([5.0, 6.0, 7.0])[None, None, :, None]
    pool.store.put(0, slice(0, 3), numbers, -numbers)
    other = sequence.fork()
    other.make_room(1, iter(pool.allocate(1)))

    assert [5.0, 6.0, 7.0] == pool.store.take(0, slice(4, 7)).keys[0, 0, :, 0].tolist()


def test_a_whole_shared_block_need_not_be_copied():
    pool = BlockPool(8, 4)
    sequence = grown(pool, 8)
    other = sequence.fork()

    assert ([], 1) == (other.to_copy(), other.to_add(1))


def test_released_sequences_leave_nothing():
    pool = BlockPool(8, 4)
    sequence = grown(pool, 9)
    other = sequence.fork()
    sequence.release()
    used = pool.used
    other.release()

    assert (3, 0) == (used, pool.used)


def test_slots_follow_the_table():
    pool = BlockPool(8, 2)
    pool.allocate(3)
    pool.release([1])
    sequence = grown(pool, 3)

    assert [2, 3, 6] == sequence.slots(0, 3)


def test_blocks_that_do_not_fit_the_length_are_refused():
    with pytest.raises(ValueError, match="5 tokens do not end in block 1"):
        Sequence(BlockPool(8, 4), [0], 5)


def test_blocks_that_are_forgotten_leave_holes_and_are_released_once():
    pool = BlockPool(8, 4)
    sequence = grown(pool, 14)
    sequence.forget(11)
    sequence.forget(11)

    assert ([HOLE, HOLE, 2, 3], 8, 2) == (sequence.blocks, sequence.gone, pool.used)


def test_a_fork_of_a_sequence_with_holes_shares_the_rest():
    pool = BlockPool(8, 4)
    sequence = grown(pool, 14)
    sequence.forget(8)
    other = sequence.fork()
    sequence.release()

    assert ([HOLE, HOLE, 2, 3], 2) == (other.blocks, pool.used)
    other.release()
    assert 0 == pool.used
