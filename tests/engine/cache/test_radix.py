import pytest

from caches import held, written
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.radix import RadixTree
from draftgate.engine.cache.sequence import Sequence
from draftgate.engine.errors import EngineError

SIZE = 4


def tree_of(blocks=64, budget=None):
    pool = BlockPool(blocks, SIZE)
    return RadixTree(pool, blocks if budget is None else budget)


def decoded(tree, tokens, *, salt="", keep=True):
    """What a request does: matches its prompt, writes the rest, inserts what is committed, leaves. Tokens reused."""
    match = tree.match(tokens[:-1], salt)
    sequence = tree.begin(match)
    cache = PagedCache(tree.pool, [sequence])
    written(cache, [tokens[match.length :]])
    cache.commit([list(range(1, len(tokens) - match.length))])
    assert [list(tokens)] == held(cache)
    cache.rewind(cache.lengths)
    if keep:
        tree.insert(tokens, sequence, salt)
    tree.unlock(match)
    sequence.release()
    return match.length


def known(tree, tokens, salt=""):
    """Tokens of a prefix that the tree holds."""
    match = tree.match(tokens, salt)
    tree.unlock(match)
    return match.length


def numbers(start, count):
    return list(range(start, start + count))


@pytest.fixture
def tree():
    return tree_of()


def test_the_longest_whole_blocks_are_found_again(tree):
    decoded(tree, numbers(0, 11))

    assert (8, 8, 4, 0) == (
        known(tree, numbers(0, 20)),
        known(tree, numbers(0, 8)),
        known(tree, numbers(0, 4)),
        known(tree, numbers(1, 8)),
    )
    assert 2 == tree.held == tree.pool.used


def test_a_block_that_agrees_in_part_is_shared_and_copied_on_write(tree):
    decoded(tree, numbers(0, 8))

    assert 6 == decoded(tree, [*numbers(0, 6), 70, 71, 72])
    assert 6 == decoded(tree, [*numbers(0, 6), 80, 81, 82])
    assert 8 == known(tree, numbers(0, 8))
    assert 8 == known(tree, [*numbers(0, 6), 70, 71, 72])
    assert 4 == tree.held == tree.pool.used


def test_texts_that_part_within_a_run_split_it(tree):
    decoded(tree, numbers(0, 16))
    decoded(tree, [*numbers(0, 8), *numbers(50, 8)])

    assert 16 == known(tree, numbers(0, 16))
    assert 16 == known(tree, [*numbers(0, 8), *numbers(50, 8)])
    assert 6 == tree.held


def test_chained_requests_reuse_all_but_the_last_block(tree):
    text, reused = numbers(0, 10), []
    for turn in range(4):
        reused.append(decoded(tree, text))
        text = [*text, *numbers(100 * (turn + 1), 10)]

    assert [0, 8, 20, 28] == reused


def test_tokens_that_the_sequence_does_not_hold_are_not_kept(tree):
    """The last emitted token was never fed: its place in the block is empty."""
    sequence = Sequence(tree.pool)
    cache = PagedCache(tree.pool, [sequence])
    written(cache, [numbers(0, 7)])
    cache.commit([numbers(1, 6)])

    assert 1 == tree.insert(numbers(0, 8), sequence)
    assert 4 == known(tree, numbers(0, 8))


def test_tokens_behind_the_end_of_an_answer_are_not_kept(tree):
    """Accepted, committed to the cache, and then cut off by a stop."""
    sequence = Sequence(tree.pool)
    cache = PagedCache(tree.pool, [sequence])
    written(cache, [numbers(0, 12)])
    cache.commit([numbers(1, 11)])

    assert 1 == tree.insert(numbers(0, 7), sequence)
    assert 4 == known(tree, numbers(0, 12))


def test_rejected_drafts_are_not_kept(tree):
    sequence = Sequence(tree.pool)
    cache = PagedCache(tree.pool, [sequence])
    written(cache, [numbers(0, 6)])
    cache.commit([numbers(1, 5)])
    written(cache, [numbers(90, 6)])
    during = tree.insert(numbers(0, 6), sequence)
    cache.commit([[]])
    after = tree.insert([*numbers(0, 6), 90], sequence)

    assert (1, 0) == (during, after)
    assert 4 == known(tree, [*numbers(0, 6), 90, 91])


def test_a_tree_that_trusts_all_blocks_of_a_sequence_would_be_seen():
    """The tests above can fail: drafts are kept as if they were text (F54)."""

    class Trusting(RadixTree):
        def _committed(self, tokens, sequence):
            return len(sequence.blocks) * self.pool.size

    tree = Trusting(BlockPool(64, SIZE), 64)
    sequence = Sequence(tree.pool)
    cache = PagedCache(tree.pool, [sequence])
    written(cache, [numbers(0, 6)])
    cache.commit([numbers(1, 5)])
    written(cache, [numbers(90, 6)])
    tree.insert(numbers(0, 12), sequence)

    assert 12 == known(tree, numbers(0, 12))


def test_what_one_salt_stored_is_unknown_under_another(tree):
    decoded(tree, numbers(0, 8), salt="one")

    assert (8, 0, 0) == (
        known(tree, numbers(0, 8), "one"),
        known(tree, numbers(0, 8), "other"),
        known(tree, numbers(0, 8)),
    )


def test_the_least_recently_used_end_goes_first():
    tree = tree_of()
    one, other = [*numbers(0, 4), *numbers(10, 4)], [*numbers(0, 4), *numbers(20, 4)]
    decoded(tree, one)
    decoded(tree, other)
    known(tree, one)

    assert 1 == tree.evict(1)
    assert (8, 4) == (known(tree, one), known(tree, other))


def test_a_prefix_outlives_what_stands_behind_it(tree):
    decoded(tree, numbers(0, 12))
    left = []
    while tree.evict(1):
        left.append(known(tree, numbers(0, 12)))

    assert [8, 4, 0] == left
    assert 0 == tree.pool.used


def test_a_budget_is_never_exceeded():
    tree = tree_of(budget=3)
    for start in range(0, 400, 20):
        decoded(tree, numbers(start, 9))
        assert tree.held <= 3
    decoded(tree, numbers(1000, 40))

    assert 3 == tree.held == tree.pool.used
    assert 12 == known(tree, numbers(1000, 40))


def test_what_is_locked_is_not_evicted(tree):
    decoded(tree, numbers(0, 12))
    match = tree.match(numbers(0, 8))

    assert 1 == tree.clear()
    assert 8 == known(tree, numbers(0, 12))
    tree.unlock(match)
    assert 2 == tree.clear()


def test_what_a_sequence_holds_is_not_evicted(tree):
    decoded(tree, numbers(0, 12))
    match = tree.match(numbers(0, 6))
    sequence = tree.begin(match)
    tree.unlock(match)

    assert 1 == tree.clear()
    sequence.release()
    assert 2 == tree.clear()
    assert 0 == tree.pool.used == tree.held


def test_a_run_split_while_it_is_locked_stays_locked(tree):
    decoded(tree, numbers(0, 16))
    match = tree.match(numbers(0, 16))
    decoded(tree, [*numbers(0, 8), *numbers(50, 8)])

    assert 2 == tree.clear()
    tree.unlock(match)
    assert 4 == tree.clear()


def test_unlocking_twice_is_refused(tree):
    decoded(tree, numbers(0, 8))
    match = tree.match(numbers(0, 8))
    tree.unlock(match)

    with pytest.raises(ValueError, match="a match of 8 tokens was unlocked twice"):
        tree.unlock(match)


def test_nothing_is_known_of_an_empty_text(tree):
    assert ((), 0) == tree.match([])[:2]


@pytest.mark.parametrize("budget", [-1, 65])
def test_a_budget_beyond_the_pool_is_refused(budget):
    with pytest.raises(EngineError, match=f"a prefix tree of {budget} blocks does not fit a pool of 64"):
        tree_of(budget=budget)
