"""Functions of one sequence in plain Python, with torch's generator or an injected numpy generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from ..interface import END, Adapted


def per_sequence(function: Callable[..., Sequence[int]]) -> Adapted:
    """`function(target_probs (K + 1, V), draft_probs (K, V), draft_tokens (K,), generator)` -> list, on tensors."""

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        rows = (function(p[b], None if q is None else q[b], x[b], generator) for b in range(len(p)))
        return padded(rows, p)

    return Adapted(call=call, per_sequence=True)


def numpy_per_sequence(function: Callable[..., Sequence[int]]) -> Adapted:
    """The same with float64 arrays, and a `numpy.random.Generator` that is new in each call."""

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        rng = numpy_generator(generator)
        target, draft, tokens = (None if a is None else a.cpu().numpy() for a in (p, q, x))
        assert target is not None
        assert tokens is not None
        exact = normalised(target)
        other = None if draft is None else normalised(draft)
        return padded(
            (function(exact[b], None if other is None else other[b], tokens[b], rng) for b in range(len(p))), p
        )

    return Adapted(call=call, per_sequence=True)


def numpy_batch(function: Callable[..., Any]) -> Adapted:
    """`function(target_probs, draft_probs, draft_tokens, rng)` -> array, on arrays of the sampler's own shapes."""

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        arrays = (None if a is None else a.cpu().numpy() for a in (p, q, x))
        return torch.as_tensor(np.asarray(function(*arrays, numpy_generator(generator))), device=p.device)

    return Adapted(call=call)


def numpy_generator(generator: Generator) -> np.random.Generator:
    """A numpy generator whose stream follows from where `generator` stands; the latter moves on."""
    if symbolic := getattr(generator, "numpy_generator", None):
        return symbolic  # type: ignore[no-any-return]
    words = torch.randint(2**62, (2,), generator=generator, device=generator.device).tolist()
    return np.random.default_rng(words)


def normalised(laws: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The laws in float64, summing to 1 as exactly as numpy's own `choice` asks for."""
    wide = laws.astype(np.float64)
    exact: np.ndarray[Any, Any] = wide / wide.sum(axis=-1, keepdims=True)
    return exact


def padded(rows: Any, like: Tensor) -> Tensor:
    """Rows of tokens of any length as (B, K + 1), the end filled up. Longer ones stay longer, and are refused later."""
    lists = [[int(token) for token in row] for row in rows]
    width = max(like.shape[1], *(len(row) for row in lists))
    filled = [row + [END] * (width - len(row)) for row in lists]
    return torch.tensor(filled, dtype=torch.int64, device=like.device)
