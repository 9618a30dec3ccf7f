"""Verifiers of draft trees: functions of one tree, and the verifiers of the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Generator, Tensor

from ....engine.sampling import draw
from ....engine.tree import DraftTree
from ....engine.verification.base import RowChance, Verifier
from ..interface import Adapted
from .sequences import normalised, numpy_generator, padded

BRANCHED = (-1, 0, 0, 1, 1)
"""Two children of the root, and two of the first of them."""


def tree(
    function: Callable[..., Sequence[int]], parents: tuple[int, ...] = BRANCHED, *, distinct: bool = False
) -> Adapted:
    """`function(tokens (N,), parents, target_probs (N + 1, V), draft_probs (N, V), rng)` of one tree; returns a list.

    Node 0 is the root and has no token: `parents` are those of nodes 1..N. Row n of `target_probs` is the target's law
    after node n, row n - 1 of `draft_probs` the law that node n was drawn from.
    """

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        assert q is not None
        rng, target, draft, tokens = numpy_generator(generator), _wide(p), _wide(q), x.cpu().numpy()
        rows = (function(tokens[b], parents[1:], target[b], draft[b], rng) for b in range(len(p)))
        return padded(rows, torch.empty((0, _depth(parents) + 1), device=p.device))

    return Adapted(call=call, per_sequence=True, parents=parents, distinct=distinct)


def engine(verifier: Verifier, parents: tuple[int, ...] = (), *, distinct: bool = False) -> Adapted:
    """A verifier of the engine, handed trees of this shape; chains of any length where no `parents` are given."""

    def call(p: Tensor, q: Tensor | None, x: Tensor, generator: Generator) -> Tensor:
        assert q is not None
        rng, target, draft, tokens = numpy_generator(generator), _wide(p), _wide(q), x.cpu().numpy()
        shape = parents or tuple(range(-1, x.shape[1]))
        trees = [_tree(tokens[b], shape, draft[b]) for b in range(len(p))]
        uniforms = rng.random((len(p), len(shape) + 1))
        made = _SymbolicChance if uniforms.dtype == object else RowChance
        outcomes = verifier.verify(trees, list(target), [made(row[1:], row[0]) for row in uniforms])
        rows = (
            [*(int(t.tokens[node]) for node in found.path), found.last]
            for t, found in zip(trees, outcomes, strict=True)
        )
        return padded(rows, torch.empty((0, _depth(shape) + 1), device=p.device))

    return Adapted(call=call, per_sequence=True, parents=parents, distinct=distinct)


class _SymbolicChance(RowChance):
    """The uniforms of a row while it is enumerated: a symbol has no float. The engine draws as it does for a batch."""

    def uniform(self, node: int) -> float:
        return self.accept[node]  # type: ignore[no-any-return]

    def draw(self, probs: np.ndarray) -> int:
        return int(draw(probs[None], np.array([self.final]))[0])


def _tree(tokens: np.ndarray, parents: tuple[int, ...], draft: np.ndarray) -> DraftTree:
    blank = np.zeros((1, draft.shape[1]))
    return DraftTree(np.concatenate(([0], tokens)), parents, np.concatenate((blank, draft)))


def _depth(parents: tuple[int, ...]) -> int:
    steps = [0] * len(parents)
    for node, parent in enumerate(parents[1:], 1):
        steps[node] = steps[parent] + 1
    return max(steps)


def _wide(laws: Tensor) -> np.ndarray:
    return normalised(laws.cpu().numpy())
