"""The library's own `generate` on this engine's caches, by the embedded models."""

import copy

import numpy as np
import pytest
import torch

from caches import CACHES, block, held
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.models.library_cache import LibraryCache, PassCache
from draftgate.engine.models.pretrained import left_padded

TEXTS = ["Repeat: alpha beta gamma", "Count from one to nine"]


def prompts(model, count):
    """Left-padded ids and mask of so many questions."""
    asked = [model.encode([{"role": "user", "content": text}]) for text in TEXTS[:count]]
    return left_padded(asked, 0)


def answered(model, count, cache=None, **how):
    tokens, mask = prompts(model, count)
    given = {} if cache is None else {model._cache_argument: cache}
    return model.model.generate(
        input_ids=tokens, attention_mask=mask, max_new_tokens=12, do_sample=False, **given, **how
    ).tolist()


@pytest.fixture(scope="module")
def liar(draft):
    """A draft whose words are not the target's: nearly all that it proposes is rejected."""
    model = copy.deepcopy(draft.model)
    model.model.norm.weight.data.mul_(-1)
    return model


@pytest.mark.parametrize("kind", CACHES)
@pytest.mark.parametrize("count", [1, 2])
def test_the_library_answers_as_on_its_own_cache(kind, count, target):
    assert answered(target, count) == answered(target, count, LibraryCache(CACHES[kind]()(count)))


def test_its_beams_share_blocks_and_leave_none(target):
    pool = BlockPool(512, 4)
    cache = PagedCache.factory(pool)(3)
    beams = answered(target, 1, LibraryCache(cache), num_beams=3)
    apart = sum(len(sequence.blocks) for sequence in cache.sequences)

    assert answered(target, 1, num_beams=3) == beams
    assert pool.used < apart
    del cache
    assert 0 == pool.used


def test_its_assisted_decoding_rolls_back_on_blocks(target, liar):
    pool = BlockPool(512, 4)
    cache = LibraryCache(PagedCache.factory(pool)(1))
    seen = answered(target, 1, cache, assistant_model=liar)

    assert answered(target, 1) == seen
    assert pool.blocks_for(len(seen[0])) >= pool.used


def test_a_cache_whose_crop_forgets_too_little_is_seen(target, liar):
    """The test above can fail: a rejected draft's entry stays in the place of an accepted one (F43)."""

    class Stale(LibraryCache):
        def crop(self, tokens_to_remove):
            self._settle()
            self.inner.rewind(self.inner.lengths)
            keep = self.inner.lengths - abs(tokens_to_remove)
            slots = self.inner.sequences[0].slots(0, int(self.inner.lengths[0]))
            self.inner.pool.store.move(torch.tensor(slots[-1:]), torch.tensor([slots[int(keep[0]) - 1]]))
            self.inner.rewind(keep)

    cache = Stale(PagedCache.factory(BlockPool(512, 4))(1))

    assert answered(target, 1) != answered(target, 1, cache, assistant_model=liar)


@pytest.mark.parametrize("kind", CACHES)
def test_what_was_written_is_kept_until_it_is_cropped(kind):
    cache = LibraryCache(CACHES[kind]()(2))
    for numbers in ([[1, 2, 3], [4, 5, 6]], [[7, 8], [9, 10]]):
        for layer in range(2):
            cache.update(*block(numbers, layer), layer)

    assert (5, (7, 0)) == (cache.get_seq_length(), cache.get_mask_sizes(2, 0))
    cache.crop(-1)
    assert [[1, 2, 3, 7], [4, 5, 6, 9]] == held(cache.inner)
    cache.batch_repeat_interleave(2)
    cache.batch_select_indices(torch.tensor([3, 0]))
    assert [[4, 5, 6, 9], [1, 2, 3, 7]] == held(cache.inner)


def test_for_one_pass_nothing_is_committed():
    cache = PassCache(PagedCache.factory(BlockPool(8, 4))(1))
    cache.update(*block([[1, 2]]), 0)

    assert np.array_equal([0], cache.inner.lengths)
    assert 0 == cache.get_seq_length()
