"""Llama's pass without the library's module calls: the same weights, the same sums in the same order, half the time.

At a few million parameters most of a step is Python between small operations. `flat` takes the plain architecture only
(float32, no biases, default rotary embedding, as many key heads as query heads); every other model keeps the library's
own pass. The mask probe holds both against the library's on loading.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ..cache.base import Cache


class _Layer(NamedTuple):
    """Weights of one layer: query, key and value in one tensor, gate and up in another."""

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
        self._heads, self._width, self._eps = config.num_attention_heads, config.head_dim, config.rms_norm_eps
        self._embedding, self._norm = inner.embed_tokens.weight.detach(), inner.norm.weight.detach()
        self._head = model.lm_head.weight.detach()
        self._layers = [_layer(layer) for layer in inner.layers]
        self._frequencies = inner.rotary_emb.inv_freq

    def logits(self, tokens: Tensor, mask: Tensor, places: Tensor, cache: Cache, keep: slice | Tensor) -> Tensor:
        """Logits (rows, kept nodes, vocabulary) for tokens and places (rows, nodes); writes the cache."""
        heads, shape = self._heads, (*tokens.shape, -1, self._width)
        angles = places[:, :, None, None].float() * self._frequencies
        cos, sin = angles.cos().repeat(1, 1, 1, 2), torch.cat((-angles.sin(), angles.sin()), dim=-1)
        x = functional.embedding(tokens, self._embedding)
        for number, layer in enumerate(self._layers):
            mixed = functional.linear(self._scaled(x, layer.before), layer.qkv).view(shape)
            turned = mixed[:, :, : 2 * heads]
            turned = turned * cos + turned.roll(self._width // 2, -1) * sin
            entries = cache.write(
                number, turned[:, :, heads:].transpose(1, 2), mixed[:, :, 2 * heads :].transpose(1, 2)
            )
            seen = functional.scaled_dot_product_attention(turned[:, :, :heads].transpose(1, 2), *entries, mask)
            x = x + functional.linear(seen.transpose(1, 2).flatten(2), layer.out)
            gate, up = functional.linear(self._scaled(x, layer.after), layer.gate_up).chunk(2, dim=-1)
            x = x + functional.linear(functional.silu(gate) * up, layer.down)
        return functional.linear(self._scaled(x, self._norm)[:, keep], self._head)

    def _scaled(self, x: Tensor, weight: Tensor) -> Tensor:
        """Root-mean-square normalisation."""
        return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self._eps))


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
        layer.input_layernorm.weight.detach(),
        _joined(attention.q_proj, attention.k_proj, attention.v_proj),
        attention.o_proj.weight.detach(),
        layer.post_attention_layernorm.weight.detach(),
        _joined(mlp.gate_proj, mlp.up_proj),
        mlp.down_proj.weight.detach(),
    )


def _joined(*linears: Any) -> Tensor:
    """The weights in one tensor, of which the library's own become views: nothing is held twice."""
    whole = torch.cat([linear.weight.detach() for linear in linears])
    parts = torch.split(whole, [len(linear.weight) for linear in linears])
    for linear, part in zip(linears, parts, strict=True):
        linear.weight.data = part
    return whole
