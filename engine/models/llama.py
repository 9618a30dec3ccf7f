"""Llama's pass without the library's module calls: the same weights and sums, in fewer operations.

At a few million parameters a step costs what its operations cost to call, and hardly what they compute. `flat` takes
the plain architecture only (float32, no biases, default rotary embedding, as many key heads as query heads); every
other model keeps the library's own pass. The mask probe holds both against the library's on loading.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ..cache.base import Cache


class _Layer(NamedTuple):
    """Weights of one layer: of norms as `_norm` gives them, matrices (in, out), in one where they share an input."""

    before: Tensor
    qkv: Tensor
    out: Tensor
    after: Tensor
    gate_up: Tensor
    down: Tensor


class FlatLlama:
    """Logits of a block behind a cache."""

    def __init__(self, model: Any) -> None:
        config, inner = model.config, model.model
        self._heads, self._width = config.num_attention_heads, config.head_dim
        self._layers = [_layer(layer) for layer in inner.layers]
        self._embedding, self._head = inner.embed_tokens.weight.detach(), model.lm_head.weight.detach().t()
        self._norm, self._least = _norm(inner.norm), torch.tensor(math.sqrt(config.hidden_size * config.rms_norm_eps))
        turns = inner.rotary_emb.inv_freq
        turned = torch.cat((-turns, turns)).repeat(2 * self._heads, 1)  # of queries and keys; values turn by nothing
        self._frequencies = torch.cat((turned, turned.new_zeros(self._heads, self._width)))

    def logits(self, tokens: Tensor, mask: Tensor, places: Tensor, cache: Cache, keep: slice | Tensor) -> Tensor:
        """Logits (rows, kept nodes, vocabulary) for tokens and places (rows, nodes); writes the cache."""
        rows, nodes = tokens.shape
        angles = places[:, :, None, None] * self._frequencies
        cos, sin = angles.cos(), angles.sin()
        x = functional.embedding(tokens.view(-1), self._embedding)
        for number, layer in enumerate(self._layers):
            mixed = (self._scaled(x, layer.before) @ layer.qkv).view(rows, nodes, -1, self._width)
            turned = torch.addcmul(mixed * cos, mixed.roll(self._width // 2, -1), sin)
            queries, keys, values = turned.transpose(1, 2).chunk(3, 1)
            entries = cache.write(number, keys, values)
            seen = functional.scaled_dot_product_attention(queries, *entries, mask)
            x = torch.addmm(x, seen.transpose(1, 2).reshape(rows * nodes, -1), layer.out)
            gate, up = (self._scaled(x, layer.after) @ layer.gate_up).chunk(2, -1)
            x = torch.addmm(x, functional.silu(gate) * up, layer.down)
        logits: Tensor = self._scaled(x.view(rows, nodes, -1)[:, keep], self._norm) @ self._head
        return logits

    def _scaled(self, x: Tensor, weight: Tensor) -> Tensor:
        """Root-mean-square normalisation, eps beneath the root: sqrt(sum of squares + width x eps) is a hypotenuse."""
        return x / torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True), self._least) * weight


def flat(model: Any) -> FlatLlama | None:
    """The model's flat pass, None where its architecture asks for more than this file does."""
    config = model.config
    plain = (
        type(model).__name__ == "LlamaForCausalLM"
        and model.dtype == torch.float32
        and config._attn_implementation == "sdpa"  # noqa: SLF001 - the library has no public name for it
        and config.hidden_act == "silu"
        and not (config.attention_bias or config.mlp_bias)
        and config.rope_parameters["rope_type"] == "default"
        and config.num_key_value_heads == config.num_attention_heads
    )
    return FlatLlama(model) if plain else None


def _layer(layer: Any) -> _Layer:
    attention, mlp = layer.self_attn, layer.mlp
    return _Layer(
        _norm(layer.input_layernorm),
        _joined(attention.q_proj, attention.k_proj, attention.v_proj).t(),
        attention.o_proj.weight.detach().t(),
        _norm(layer.post_attention_layernorm),
        _joined(mlp.gate_proj, mlp.up_proj).t(),
        mlp.down_proj.weight.detach().t(),
    )


def _norm(norm: Any) -> Tensor:
    """The weight for what is divided by its length rather than by its root mean square."""
    weight: Tensor = norm.weight.detach()
    return weight * math.sqrt(len(weight))


def _joined(*linears: Any) -> Tensor:
    """The weights in one tensor, of which the library's own become views: nothing is held twice."""
    whole = torch.cat([linear.weight.detach() for linear in linears])
    parts = torch.split(whole, [len(linear.weight) for linear in linears])
    for linear, part in zip(linears, parts, strict=True):
        linear.weight.data = part
    return whole
