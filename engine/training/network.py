"""The family's network: an ordinary Hugging Face Llama, and a leaner pass through it for training.

`losses` computes what the model itself would, on whole causal rows, and the head only where something is learned. It
can also read the logits behind a lower layer, with the same norm and head, so that the layer learns to answer early
(LayerSkip, arXiv 2404.16710, section 4.1), and learn a teacher's law instead of the text (arXiv 1503.02531).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own habit
from torch import Tensor

from .batches import IGNORED, Batch

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast


def build(shape: dict[str, Any], positions: int, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A fresh Llama of the recipe's shape with tied embeddings."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape["width"],
        intermediate_size=shape["inner"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["heads"],
        max_position_embeddings=positions,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:  # so that depth does not blow up the residual stream (GPT-2, section 2.3)
            layer.self_attn.o_proj.weight /= math.sqrt(2 * shape["layers"])
            layer.mlp.down_proj.weight /= math.sqrt(2 * shape["layers"])
    return model


def losses(
    model: LlamaForCausalLM, batch: Batch, exit_layer: int | None = None, laws: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Mean loss in nats a learned token, of the whole model and of its first `exit_layer` layers.

    The tokens to be learned are the batch's, or their `laws` as a teacher gives them (learned tokens, vocabulary).
    """
    wanted = _learned(batch)
    targets = batch.labels[:, 1:][wanted] if laws is None else laws
    early = None
    for number, states in enumerate(_states(model, batch), start=1):
        if number == exit_layer:
            early = F.cross_entropy(_logits(model, states[wanted]), targets)
    return F.cross_entropy(_logits(model, states[wanted]), targets), early


@torch.no_grad()
def teach(model: LlamaForCausalLM, batch: Batch) -> Tensor:
    """The model's own law of each learned token, (learned tokens, vocabulary)."""
    *_, states = _states(model, batch)
    return _logits(model, states[_learned(batch)]).float().softmax(-1)


def rotations(model: LlamaForCausalLM, length: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary embedding, each (tokens, head width)."""
    angles = torch.outer(torch.arange(length, dtype=torch.float32), model.model.rotary_emb.inv_freq)
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def _learned(batch: Batch) -> Tensor:
    return batch.labels[:, 1:] != IGNORED


def _states(model: LlamaForCausalLM, batch: Batch) -> Iterator[Tensor]:
    """What each layer leaves behind, one after another."""
    states = F.embedding(batch.tokens[:, :-1], model.model.embed_tokens.weight)
    turning = rotations(model, states.shape[1])
    for layer in model.model.layers:
        states = _layer(layer, states, *turning)
        yield states


def _logits(model: LlamaForCausalLM, states: Tensor) -> Tensor:
    return F.linear(_norm(model.model.norm, states), model.lm_head.weight)


def _layer(layer: Any, states: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    rows, length, width = states.shape
    inside, normed = layer.self_attn, _norm(layer.input_layernorm, states)
    joint = torch.cat((inside.q_proj.weight, inside.k_proj.weight, inside.v_proj.weight))
    heads = F.linear(normed, joint).view(rows, length, 3, -1, inside.head_dim).permute(2, 0, 3, 1, 4)
    turned = _turn(heads[:2], cosines, sines)
    seen = _attention(turned[0], turned[1], heads[2])
    states = states + F.linear(seen.transpose(1, 2).reshape(rows, length, width), inside.o_proj.weight)
    normed, mlp = _norm(layer.post_attention_layernorm, states), layer.mlp
    gate, up = F.linear(normed, torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight))).chunk(2, -1)
    return states + F.linear(F.silu(gate) * up, mlp.down_proj.weight)


def _attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Causal attention by two plain products: on short rows in 16 bit faster than the fused one, there and back."""
    length, width = queries.shape[-2:]
    hidden = torch.full((length, length), -torch.inf).triu(1)
    scores = (queries @ keys.transpose(-2, -1)).float() / math.sqrt(width) + hidden
    return scores.softmax(-1) @ values


def _norm(norm: Any, states: Tensor) -> Tensor:
    return F.rms_norm(states, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _turn(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = heads.chunk(2, -1)
    return heads * cosines + torch.cat((-second, first), -1) * sines
