import json
import shutil

import numpy as np
import pytest

from caches import LAYERS, block, filled, held, own_numbers, written
from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.paged import PagedCache, Window
from draftgate.engine.cache.sequence import Sequence
from draftgate.engine.errors import OutOfBlocks
from draftgate.engine.models.base import Block
from draftgate.engine.models.huggingface import load
from tolerances import FLOAT32_LOGITS


def test_rejected_nodes_give_back_their_blocks_at_once():
    pool = BlockPool(64, 4)
    cache = filled(PagedCache.factory(pool), [[1, 2, 3, 4]])
    written(cache, [list(range(10, 30))])
    during = pool.used
    cache.commit([[1]])

    assert (6, 2) == (during, pool.used)


def test_a_decoder_that_drops_its_cache_leaves_no_blocks():
    pool = BlockPool(64, 4)
    cache = filled(PagedCache.factory(pool), [[1, 2, 3, 4], [5]])
    cache.select([1])
    cache.join(1)
    written(cache, [[6], [7]])
    del cache

    assert 0 == pool.used


def test_what_does_not_fit_is_refused_before_anything_changes():
    pool = BlockPool(4, 4)
    cache = filled(PagedCache.factory(pool), [[1, 2, 3, 4], [5]])
    with pytest.raises(OutOfBlocks):
        written(cache, [[1] * 8] * 2)

    assert 2 == pool.used
    assert [[1, 2, 3, 4], [5]] == held(cache)


def test_padding_takes_no_blocks_and_touches_nobody():
    pool = BlockPool(64, 1)
    cache = filled(PagedCache.factory(pool), [[1, 2], [3]])
    held_before = pool.used
    cache.reserve([1, 3])
    seen = written_unseen(cache, [[10, 0, 0], [11, 12, 13]])
    taken = pool.used - held_before
    cache.commit([[], [1, 2]])

    assert ([1, 2, 10], [3, 11, 12, 13]) == (seen[0][:3], seen[1][:4])
    assert 4 == taken
    assert [[1, 2, 10], [3, 11, 12, 13]] == held(cache)


def written_unseen(cache, numbers):
    """Writes without looking at padding."""
    seen = [cache.write(layer, *block(numbers, layer)) for layer in range(LAYERS)]
    return own_numbers(seen[0])


def test_forks_that_write_the_same_shared_block_copy_it_once():
    pool = BlockPool(64, 4)
    cache = filled(PagedCache.factory(pool), [[1, 2, 3]])
    cache.select([0, 0])

    assert (1, 1) == (pool.used, cache.missing([1, 1]))
    written(cache, [[4], [5]])
    cache.commit([[], []])
    assert 2 == pool.used
    assert [[1, 2, 3, 4], [1, 2, 3, 5]] == held(cache)


def test_sequences_outlive_the_cache_of_a_pass():
    pool = BlockPool(64, 4)
    sequences = [Sequence(pool), Sequence(pool)]
    cache = PagedCache(pool, sequences)
    written(cache, [[1, 2, 3], [4, 5, 6]])
    cache.commit([[1, 2], [1]])
    del cache

    assert [[4, 5], [1, 2, 3]] == held(PagedCache(pool, reversed(sequences)))


@pytest.mark.parametrize("paths", [[[3]], [[1, 2, 3]]])
def test_a_node_that_was_not_written_cannot_be_committed(paths):
    cache = filled(PagedCache.factory(BlockPool(64, 4)), [[1, 2, 3]])
    written(cache, [[4, 5, 6]])

    with pytest.raises(ValueError, match="cannot commit"):
        cache.commit(paths)


K, WINDOW, SIZE = 4, 24, 4


@pytest.fixture(scope="module")
def mistral(tmp_path_factory):
    """The embedded target, every layer of which sees only the last `WINDOW` entries."""
    folder = shutil.copytree(EMBEDDED / "target", tmp_path_factory.mktemp("mistral") / "model")
    config = json.loads((folder / "config.json").read_text())
    config |= {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": WINDOW}
    (folder / "config.json").write_text(json.dumps(config))
    return load(folder)


def departs(model, cache, prompt):
    """The worst gap, as a share of the logits' spread, between rounds on this cache and the model's own pass.

    Chains of K drafts of which 0, 1, .. K are accepted in turn; a round that kept all is then taken back as a whole.
    """
    tokens = list(prompt)
    model.score(Block.chains([tokens]), cache)
    cache.commit([list(range(1, len(tokens)))])
    worst = 0.0
    for turn in range(3 * K):
        fed = [(7 * turn + 11 * node) % 1000 for node in range(K + 1)]
        alone = model.native_logits([*tokens, *fed])[-K - 1 :]
        seen = model.score(Block.chains([fed]), cache)[0]
        worst = max(worst, float(np.abs(alone - seen).max() / (alone.max() - alone.min())))
        accepted = turn % (K + 1)
        cache.commit([list(range(1, accepted + 1))])
        tokens += fed[: accepted + 1]
        if accepted == K:
            tokens = tokens[: -K - 1]
            cache.rewind(np.array([len(tokens)]))
    return worst


@pytest.mark.parametrize("length", [WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW])
def test_what_left_the_window_is_freed_but_never_what_a_rollback_may_see(length, mistral):
    pool = BlockPool(64, SIZE)
    cache = PagedCache.factory(pool, Window(mistral.window, K + 1))(1)

    assert departs(mistral, cache, range(100, 100 + length)) < FLOAT32_LOGITS
    assert pool.used <= pool.blocks_for(WINDOW + K) + 1
    assert pool.used < pool.blocks_for(int(cache.lengths[0]))


def test_a_cache_that_forgets_before_it_knows_what_was_rejected_is_seen(mistral):
    """F47: what leaves the window of the last draft goes before the drafts are judged."""

    class Early(PagedCache):
        def _make_room(self, nodes):
            super()._make_room(nodes)
            for sequence, count in zip(self.sequences, nodes, strict=True):
                sequence.forget(max(0, sequence.length + count - WINDOW))

    pool = BlockPool(64, 1)
    honest, wrong = (departs(mistral, kind.factory(pool)(1), range(100, 125)) for kind in (PagedCache, Early))

    assert honest < FLOAT32_LOGITS < wrong / 100


def test_a_rewind_to_what_has_left_the_window_is_refused():
    cache = filled(PagedCache.factory(BlockPool(64, 4), Window(8, 2)), [list(range(20))])
    cache.rewind(np.array([18]))

    with pytest.raises(ValueError, match="cannot rewind to 12 entries: the first 8 have left the window"):
        cache.rewind(np.array([12]))
    assert [18] == cache.lengths.tolist()


@pytest.mark.parametrize(("length", "first"), [(0, 0), (9, 0), (10, 1), (20, 11)])
def test_a_window_of_eight_with_a_rollback_of_two_keeps_nine_entries(length, first):
    assert first == Window(8, 2).first(length)


def test_a_tree_of_64_nodes_over_a_prefix_of_512_takes_64_slots_rounded_to_blocks():
    """Ancestors are shared; so are the prefix's blocks, with whoever else has them."""
    pool = BlockPool(256, 16)
    cache = filled(PagedCache.factory(pool), [list(range(512))])
    cache.select([0, 0])
    prefix = pool.used
    written(PagedCache(pool, cache.sequences[:1]), [list(range(1000, 1064))])

    assert (512 // 16, (512 + 64) // 16) == (prefix, pool.used)
