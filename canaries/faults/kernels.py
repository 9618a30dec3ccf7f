"""A plant in the kernels that score a block: another rounding for each shape.

Another matrix kernel for each shape of a pass moves logits a little with its width, its batch and the place. In both
arms this is what real kernels do, and innocent (N03); in the candidate alone the verify pass computes something else
than plain decoding does, and that is a fault (F53). What is drafted has no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...engine.cache.base import Cache
from ...engine.models.attention import positions
from ...engine.models.base import Block, LanguageModel, Logits
from ...engine.randomness import CounterRandomness, Purpose
from ..targets.strategies import Strategies

# Logits; each moves by at most this much, evenly. A gap of two logits then differs between two passes by at most
# 4 * AMPLITUDE, 0.46 * AMPLITUDE upwards on average, and as many answers fork as there are greedy tokens whose gap is
# that small: two dozen on core. `docs/decisions/0009-*` says how to set it for other weights.
AMPLITUDE = 0.04
_WIDTH, _ROWS = np.int64(1 << 40), np.int64(1 << 52)  # of a pass, beside the token in one 63-bit key


class KernelByShape:
    """A model whose logits carry a rounding error that follows from width, rows, position and token alone."""

    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner
        self._chance = CounterRandomness()
        self.vocabulary = inner.vocabulary
        self.positions = inner.positions
        self.eos: tuple[int, ...] = getattr(inner, "eos", ())

    def score(self, block: Block, cache: Cache) -> Logits:
        """Logits after every node, moved."""
        errors = self._errors(block, cache)
        return self._inner.score(block, cache) + errors

    def score_last(self, block: Block, cache: Cache) -> Logits:
        """Logits after each row's last node, moved as in `score`."""
        ends = (np.arange(len(block.parents)), block.lengths - 1)
        errors = self._errors(block, cache, ends)
        return self._inner.score_last(block, cache) + errors

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens."""
        return self._inner.decode(tokens)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation."""
        return self._inner.encode(messages)

    def identity(self) -> dict[str, Any]:
        """The model's own: a kernel is no part of what a model is."""
        return self._inner.identity()

    def _errors(self, block: Block, cache: Cache, nodes: Any = ...) -> npt.NDArray[np.float32]:
        """Errors of the chosen nodes (all by default), (*nodes, vocabulary), evenly within the amplitude."""
        rows, width = block.tokens.shape
        places = positions(block, cache.lengths).numpy()[nodes]
        keys = block.tokens[nodes] + width * _WIDTH + rows * _ROWS
        given = self._chance.uniforms(keys.ravel(), places.ravel(), Purpose.PLAIN, self.vocabulary)
        return (AMPLITUDE * (2 * given - 1)).astype(np.float32).reshape(*keys.shape, self.vocabulary)


def kernel_by_shape(strategies: Strategies) -> Strategies:
    """N03 where both arms have it, F53 where the candidate alone does."""
    return replace(strategies, model=KernelByShape)
