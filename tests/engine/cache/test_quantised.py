"""Few bits a value: near what was written, the same for a token whatever is written beside it, and counted."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from draftgate.canaries.faults.cache import KeepsRejected
from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.quantised import Codes, QuantisedCache, QuantisedStore
from draftgate.engine.errors import EngineError
from draftgate.engine.models.base import Block

HALF_STEP = 0.501  # of a step, by which a value may be missed: half, and what 16 bits of a step and a start make of it
SHAPES = [(4, 8), (4, 32), (8, 32), (8, 7)]
CACHES = {
    "contiguous": lambda codes: QuantisedCache.around(ContiguousCache, codes),
    "paged": lambda codes: QuantisedCache.around(PagedCache.factory(BlockPool(64, 4)), codes),
    "a pool's store": lambda codes: PagedCache.factory(BlockPool(64, 4, QuantisedStore.of(codes))),
}


def vectors(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def after_a_rejection(model, cache):
    """What the model says after the tokens 0 1 2 3 2, where 1 and 2 were rejected behind the 3."""
    for block, kept in (([0, 1, 2], [1, 2]), ([3, 1, 2], [])):
        model.score(Block.chains([block]), cache)
        cache.commit([kept])
    return model.score(Block.chains([[2]]), cache)[0, 0]


def restored(codes, given):
    return codes.unpacked(codes.packed(given), given.shape[-1], given.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("bits", "group"), SHAPES)
def test_every_value_is_met_within_half_a_step_of_its_group(bits, group, dtype):
    codes, given = Codes(bits=bits, group=group), vectors(5, 3, 64, dtype=dtype)
    size = np.gcd(64, group)
    grouped = given.double().unflatten(-1, (-1, size))
    step = (grouped.amax(-1, keepdim=True) - grouped.amin(-1, keepdim=True)) / (2**bits - 1)
    rounding = 4 * torch.finfo(torch.bfloat16 if dtype is torch.bfloat16 else torch.float16).eps

    missed = (restored(codes, given).double().unflatten(-1, (-1, size)) - grouped).abs()

    assert (missed <= HALF_STEP * step + rounding * grouped.abs().amax(-1, keepdim=True)).all()


@pytest.mark.parametrize(("bits", "group"), SHAPES)
def test_packed_again_it_stays_what_it_is(bits, group):
    """A token that was stored and is written anew moves by no more than the rounding of a step."""
    codes = Codes(bits=bits, group=group)
    once = restored(codes, vectors(40, 32))

    assert torch.allclose(once, restored(codes, once), atol=2e-2)


def test_more_bits_and_smaller_groups_come_nearer():
    given = vectors(200, 32)
    missed = [
        float((restored(Codes(bits=b, group=g), given) - given).square().mean()) for b, g in ((4, 32), (4, 8), (8, 32))
    ]

    assert missed == sorted(missed, reverse=True)
    assert missed[-1] < missed[0] / 100


@pytest.mark.parametrize("value", [0.0, -3.5, 60000.0])
def test_a_group_of_one_value_is_that_value(value):
    given = torch.full((2, 16), value)

    assert torch.equal(given, restored(Codes(bits=4, group=8), given))


@pytest.mark.parametrize("bits", [4, 8])
def test_whole_numbers_of_one_to_a_group_are_exact(bits):
    """The table model keeps its tokens there."""
    tokens = torch.arange(5000)[:, None]

    assert torch.equal(tokens, restored(Codes(bits=bits, group=8), tokens))


@pytest.mark.parametrize(
    ("bits", "group", "dtype", "size"),
    [
        (4, 8, torch.float32, 16 + 4 * 4),  # half a byte a value; a step and a start of 16 bits to each of four groups
        (4, 32, torch.float16, 16 + 4 + 4),  # and four bytes to a multiple of eight
        (8, 32, torch.bfloat16, 32 + 4 + 4),
    ],
)
def test_the_bytes_are_those_that_are_kept(bits, group, dtype, size):
    codes, given = Codes(bits=bits, group=group), vectors(3, 32, dtype=dtype)

    assert size == codes.bytes(32, dtype) == codes.packed(given).shape[-1]
    assert torch.uint8 is codes.packed(given).dtype


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
def test_bytes_a_token_are_counted_over_the_layers(make):
    codes = Codes(bits=4, group=8)
    cache = make(codes)(1)
    for layer in range(3):
        cache.write(layer, vectors(1, 2, 4, 32), vectors(1, 2, 4, 32))

    counted = cache.bytes_per_token if isinstance(cache, QuantisedCache) else cache.pool.store.bytes_per_token
    assert 3 * 2 * 2 * codes.bytes(32, torch.float32) == counted


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 3))
def test_an_entry_is_the_same_written_alone_in_a_block_or_after_a_rollback(make, widths, forgotten):
    """Own tokens included: what `write` gives back of a token is what every later pass reads of it."""
    keys, values = vectors(1, 2, sum(widths), 16), vectors(1, 2, sum(widths), 16) + 1
    alone, cache = make(Codes(bits=4, group=8))(1), make(Codes(bits=4, group=8))(1)
    whole = alone.write(0, keys, values)
    done = 0
    for width in widths:
        noise = vectors(1, 2, width + forgotten, 16)
        cache.write(0, noise, noise)  # a block that is not committed
        seen = cache.write(0, keys[:, :, done : done + width], values[:, :, done : done + width])
        done += width
        assert torch.equal(whole.keys[:, :, :done], seen.keys[:, :, :done])
        assert torch.equal(whole.values[:, :, :done], seen.values[:, :, :done])
        cache.commit([list(range(1, width))])


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
def test_accepted_nodes_are_moved_as_bytes_and_rows_may_go_and_come(make):
    cache, keys = make(Codes(bits=4, group=8))(2), vectors(2, 1, 5, 16)
    written = cache.write(0, keys, keys).keys.clone()
    cache.commit([[2, 4], [1]])
    cache.rewind(np.array([3, 1]))
    cache.select([1, 0])
    cache.join(1)

    seen = cache.write(0, torch.zeros(3, 1, 1, 16), torch.zeros(3, 1, 1, 16)).keys

    assert [1, 3, 0] == cache.lengths.tolist()
    assert torch.equal(written[0, :, [0, 2, 4]], seen[1, :, :3])
    assert torch.equal(written[1, :, :1], seen[0, :, :1])


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
def test_rows_of_another_cache_are_taken_over_with_what_they_hold(make):
    new_cache, keys = make(Codes(bits=4, group=8)), vectors(2, 1, 3, 16)
    cache, other = new_cache(1), new_cache(1)
    cache.reserve([2])
    cache.write(0, keys[:1], keys[:1])
    cache.commit([[1]])
    written = other.write(0, keys[1:], keys[1:]).keys.clone()
    other.commit([[1, 2]])
    cache.append(other)

    seen = cache.write(0, torch.zeros(2, 1, 1, 16), torch.zeros(2, 1, 1, 16)).keys

    assert ([2, 3], []) == (cache.lengths.tolist(), other.lengths.tolist())
    assert torch.equal(written[0], seen[1, :, :3])


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
def test_rejected_entries_are_never_seen_again(make, small):
    model = small.table_model()

    assert np.array_equal(model.law([0, 1, 2, 3, 2]), after_a_rejection(model, make(Codes(bits=4, group=8))(1)))


def test_a_cache_that_keeps_rejected_entries_shows_through_the_codes(small):
    model, make = small.table_model(), QuantisedCache.around(KeepsRejected, Codes(bits=4, group=8))

    assert not np.array_equal(model.law([0, 1, 2, 3, 2]), after_a_rejection(model, make(1)))


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
def test_after_rounds_the_model_says_what_it_says_after_a_fresh_prefill(make, target):
    """State parity: blocks with rejections, then the same committed tokens in one pass."""
    text = [(7 * place) % 200 + 4 for place in range(24)]
    live, fresh = make(Codes(bits=4, group=8))(1), make(Codes(bits=4, group=8))(1)
    target.score(Block.chains([text[:10]]), live)
    live.commit([list(range(1, 10))])
    for at in range(10, 22, 3):
        target.score(Block.chains([[*text[at : at + 3], 9, 8]]), live)
        live.commit([[1, 2]])
    target.score(Block.chains([text[:22]]), fresh)
    fresh.commit([list(range(1, 22))])

    seen, wanted = (target.score(Block.chains([text[22:]]), cache) for cache in (live, fresh))

    assert [22] == live.lengths.tolist()
    assert np.abs(seen - wanted).max() < 0.5  # logits: a code on the edge of two may fall either way by rounding
    assert (seen.argmax(axis=-1) == wanted.argmax(axis=-1)).all()


@pytest.mark.parametrize(("bits", "group"), [(3, 8), (16, 8), (4, 0)])
def test_codes_that_there_are_not_are_refused_in_one_line(bits, group):
    with pytest.raises(EngineError, match="use 4 or 8 bits, groups of 1 and more"):
        Codes(bits=bits, group=group)


def test_keys_and_values_of_different_width_are_refused_in_one_line():
    cache = QuantisedCache.around(ContiguousCache, Codes(bits=4, group=8))(1)

    with pytest.raises(EngineError, match=r"keys have width 16, values 8.*use cache=float"):
        cache.write(0, vectors(1, 2, 3, 16), vectors(1, 2, 3, 8))
