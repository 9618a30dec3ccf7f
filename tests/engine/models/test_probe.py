import numpy as np
import pytest
import torch
import transformers

from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.errors import ModelRefused
from draftgate.engine.models import huggingface
from draftgate.engine.models.huggingface import HuggingFaceModel
from draftgate.engine.models.probe import Scoring, probe


class IgnoresTheMask(HuggingFaceModel):
    """Every node sees the whole block before it, siblings included: right for chains, wrong for trees."""

    def _masks(self, seen, places, cache):
        _, nodes, reach = seen.shape
        blind = np.arange(reach) <= cache.lengths[:, None, None] + np.arange(nodes)[:, None]
        return super()._masks(blind, places, cache)


class IgnoresPositions(HuggingFaceModel):
    """Every block begins at position 0, as in a model that counts what it is fed."""

    def _forward(self, block, cache, keep):
        lengths, cache.lengths = cache.lengths, np.zeros_like(cache.lengths)
        try:
            return super()._forward(block, cache, keep)
        finally:
            cache.lengths = lengths


class BooleanMask(HuggingFaceModel):
    """Hands over booleans where the model adds: true is one, false is nothing, and nothing is hidden."""

    def _masks(self, seen, places, cache):
        return torch.from_numpy(seen)[:, None].to(self.model.dtype)


def wrapped(kind, model):
    return kind(model.model, model.tokenizer, {})


def test_an_honest_model_may_be_asked_for_trees(target):
    assert Scoring.TREE == probe(target)


def test_a_model_that_ignores_the_mask_may_be_asked_for_chains_only(target):
    assert Scoring.CHAIN == probe(wrapped(IgnoresTheMask, target))


@pytest.mark.parametrize("kind", [IgnoresPositions, BooleanMask])
def test_a_model_that_is_wrong_behind_a_rollback_is_refused_in_one_line(kind, target):
    with pytest.raises(
        ModelRefused, match="LlamaForCausalLM answers differently when drafts are rolled back"
    ) as caught:
        probe(wrapped(kind, target))
    assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_of_rounding_are_forgiven_and_a_wrong_mask_is_not(dtype):
    model = huggingface.load(EMBEDDED / "target", dtype=dtype)

    assert Scoring.TREE == probe(model)
    assert Scoring.CHAIN == probe(wrapped(IgnoresTheMask, model))


def test_a_hybrid_whose_layers_keep_a_state_is_refused_in_one_line(target):
    """Its convolution looks for its state in the cache; what it finds is an error of its own kind."""
    config = transformers.Lfm2Config(
        vocab_size=512,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        full_attn_idxs=[1],
    )
    hybrid = HuggingFaceModel(transformers.AutoModelForCausalLM.from_config(config), target.tokenizer, {})

    with pytest.raises(ModelRefused, match=r"Lfm2ForCausalLM cannot be scored .*attention in every layer") as caught:
        probe(hybrid)
    assert 1 == len(str(caught.value).splitlines())
