"""Functions of whole batches with another signature: logits, no q, vLLM's rejection sampler, JAX."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from ..interface import Adapted
from .sequences import numpy_generator


def logits(function: Callable[..., Tensor]) -> Adapted:
    """`function(target_logits, draft_logits, draft_tokens, generator)`: natural logarithms, -inf for a mass of 0."""

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        return function(p.log(), None if q is None else q.log(), x, generator)

    return Adapted(call=call)


def greedy(function: Callable[..., Tensor]) -> Adapted:
    """`function(target_logits, draft_logits, draft_tokens, generator)` at T = 0, with exact ties among the logits.

    Logits are whole numbers. Where several are largest, the first of them is the token: one convention, for a target
    that takes one and a verifier that takes another are not the same decoder.
    """

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        best = p.argmax(dim=-1, keepdim=True)
        places = torch.arange(p.shape[-1], device=p.device)
        tied = (places > best) & ((places - best) % 2 == 1)  # every second token after the best one is as good
        whole = torch.where((places == best) | tied, 8.0, 1.0 + places % 3).to(p.dtype)
        return function(whole, None if q is None else q.log(), x, generator)

    return Adapted(call=call, greedy=True)


def chosen(function: Callable[..., Tensor]) -> Adapted:
    """A sampler for drafts that were chosen, not drawn: `draft_probs` is None, q is one-hot at the draft token."""
    return Adapted(call=function, chosen=True)


def vllm(function: Callable[..., Tensor]) -> Adapted:
    """The signature of vLLM's `rejection_sample`: flattened drafts, and bonus tokens that are drawn beforehand.

    The arguments are draft_token_ids, num_draft_tokens, max_spec_len, cu_num_draft_tokens, draft_probs, target_probs,
    bonus_token_ids, sampling_metadata.

    Drafts are flattened to (B * K,) and (B * K, V); the bonus token (B, 1) is drawn before, from the last target row.
    The metadata say that all rows sample at T = 1, with the generator of the call for each.
    """

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        rows, k = x.shape
        bonus = torch.multinomial(p[:, k], 1, generator=generator)
        metadata = SimpleNamespace(
            all_greedy=False,
            all_random=True,
            temperature=torch.ones(rows, device=p.device),
            top_k=None,
            top_p=None,
            generators=dict.fromkeys(range(rows), generator),
        )
        ends = torch.arange(1, rows + 1, device=p.device) * k
        draft = None if q is None else q.reshape(rows * k, -1)
        target = p[:, :k].reshape(rows * k, -1)
        return function(x.reshape(-1), [k] * rows, k, ends.int(), draft, target, bonus, metadata)

    return Adapted(call=call)


def jax(function: Callable[..., Any]) -> Adapted:
    """`function(target_probs, draft_probs, draft_tokens, key)` on JAX arrays, with a key that is new in each call."""
    import jax as library
    import jax.numpy as jnp

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        key = library.random.key(int(numpy_generator(generator).integers(2**31)))
        arrays = (None if a is None else jnp.asarray(a.cpu().numpy()) for a in (p, q, x))
        return torch.as_tensor(np.array(function(*arrays, key)), device=p.device).long()

    return Adapted(call=call)
