import pytest

from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.errors import EngineError, OutOfBlocks


def test_blocks_are_counted_as_they_come_and_go():
    pool = BlockPool(5, 4)
    taken = pool.allocate(3)
    pool.share(taken[:1])
    pool.release(taken)

    assert [0, 1, 2] == taken
    assert (4, 1) == (pool.free, pool.used)
    assert [1, 0] == [pool.references(block) for block in taken[:2]]


def test_the_lowest_free_blocks_come_first_whatever_was_released_when():
    pool = BlockPool(6, 4)
    pool.allocate(6)
    pool.release([4, 1, 2])

    assert [1, 2, 4] == pool.allocate(3)


def test_more_than_is_free_is_refused_in_one_line_and_nothing_is_taken():
    pool = BlockPool(3, 16)
    pool.allocate(2)

    with pytest.raises(OutOfBlocks, match="2 blocks of 16 tokens are needed and 1 of 3 are free") as caught:
        pool.allocate(2)
    assert 1 == len(str(caught.value).splitlines())
    assert (1, 2) == (pool.free, pool.used)


@pytest.mark.parametrize("act", [BlockPool.share, BlockPool.release])
def test_a_free_block_can_be_neither_shared_nor_released(act):
    pool = BlockPool(2, 4)
    pool.release(pool.allocate(1))

    with pytest.raises(ValueError, match="block 0 is free"):
        act(pool, [0])
    assert 2 == pool.free


@pytest.mark.parametrize(("blocks", "size"), [(0, 16), (4, 0), (-1, 4)])
def test_a_pool_that_holds_nothing_is_refused(blocks, size):
    with pytest.raises(EngineError, match="holds nothing"):
        BlockPool(blocks, size)


def test_blank_and_sink_are_never_handed_out():
    pool = BlockPool(4, 2)

    assert {pool.blank, pool.sink}.isdisjoint(pool.allocate(4))


@pytest.mark.parametrize(("tokens", "blocks"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_the_last_block_may_be_filled_in_part(tokens, blocks):
    assert blocks == BlockPool(4, 4).blocks_for(tokens)
