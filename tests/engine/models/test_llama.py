"""The flat pass gives the library's own logits, but for rounding, or is not taken."""

import numpy as np
import pytest
import torch
import transformers

from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.attention import additive, positions, visible
from draftgate.engine.models.base import Block
from draftgate.engine.models.library_cache import PassCache
from draftgate.engine.models.llama import flat

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
}
BLOCKS = [
    Block.chains([[1, 2, 3, 4, 5], [6, 7, 8]]),
    Block.chains([[9], [10]]),
    Block.of([[11, 12, 13, 14], [15, 16, 17]], [(-1, 0, 0, 1), (-1, 0, 1)]),
]


def built(kind=torch.float32, **changes):
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES | changes)).to(kind).eval()


def passes(model, flattened):
    """Logits of three blocks behind one another, by the flat pass or by the library's."""
    cache, found = ContiguousCache(2), []
    for block in BLOCKS:
        places, mask = positions(block, cache.lengths), additive(visible(block, cache.lengths), model.dtype)
        tokens = torch.from_numpy(block.tokens)
        with torch.inference_mode():
            if flattened:
                logits = flattened.logits(tokens, mask, places, cache, slice(None))
            else:
                logits = model(tokens, mask, places, PassCache(cache), use_cache=True).logits
        cache.commit([[1], [1, 2]] if len(block.parents[0]) > 1 else [[], []])
        found.append(logits.numpy())
    return found


@pytest.mark.parametrize("tied", [True, False])
def test_the_flat_pass_gives_the_librarys_logits(tied):
    model = built(tie_word_embeddings=tied)
    wanted = passes(model, None)

    for library, seen in zip(wanted, passes(model, flat(model)), strict=True):
        np.testing.assert_allclose(seen, library, rtol=0, atol=1e-6)


def test_the_library_answers_as_before_once_its_weights_are_views():
    model = built()
    before = passes(model, None)
    flat(model)

    assert all(np.array_equal(a, b) for a, b in zip(before, passes(model, None), strict=True))


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": torch.bfloat16},
        {"num_attention_heads": 4, "num_key_value_heads": 2},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"hidden_act": "gelu"},
        {"attn_implementation": "eager"},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    ],
    ids=str,
)
def test_any_other_architecture_keeps_the_librarys_pass(changes):
    assert flat(built(**changes)) is None
