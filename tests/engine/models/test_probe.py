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


class OneMaskForAllRows(HuggingFaceModel):
    """Every row sees as far as the first: right alone, wrong beside a longer row."""

    def _masks(self, seen, places, cache):
        return super()._masks(np.repeat(seen[:1], len(seen), axis=0), places, cache)


def wrapped(kind, model):
    return kind(model.model, model.tokenizer, {})


def test_an_honest_model_may_be_asked_for_trees(target):
    assert Scoring.TREE == probe(target)


def test_a_model_that_ignores_the_mask_may_be_asked_for_chains_only(target):
    assert Scoring.CHAIN == probe(wrapped(IgnoresTheMask, target))


@pytest.mark.parametrize("kind", [IgnoresPositions, BooleanMask, OneMaskForAllRows])
def test_a_model_that_is_wrong_behind_a_rollback_or_beside_a_longer_row_is_refused_in_one_line(kind, target):
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


def test_a_model_with_a_window_of_its_own_that_reads_another_row_is_refused(target):
    """GPT-Neo cuts its local window out of the whole cache: in a shorter row that is the wrong place."""
    config = transformers.GPTNeoConfig(
        vocab_size=512,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=6,
        max_position_embeddings=128,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    windowed = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in windowed.parameters():
        if parameter.ndim > 1:
            parameter.data.mul_(4)  # fresh weights hardly look around themselves

    with pytest.raises(ModelRefused, match="GPTNeoForCausalLM answers differently"):
        probe(HuggingFaceModel(windowed, target.tokenizer, {}))
