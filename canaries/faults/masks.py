"""Plants in who sees whom: a verify pass that loses what is cached, a tree whose siblings see one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...engine.cache.base import Cache, Entries, Ints
from ...engine.models.base import Block, LanguageModel, Logits
from ...engine.models.huggingface import HuggingFaceModel
from ..targets.strategies import Strategies


class SeesItsBlockOnly:
    """A pass of several draft tokens attends to these alone, as if it were a prompt's (F53)."""

    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner
        self.vocabulary = inner.vocabulary
        self.positions = inner.positions
        self.eos: tuple[int, ...] = getattr(inner, "eos", ())
        self.window: int | None = getattr(inner, "window", None)

    def score(self, block: Block, cache: Cache) -> Logits:
        """What is committed is blank to more than one node."""
        seen: Any = _Blank(cache) if block.tokens.shape[1] > 1 else cache  # all of a cache that a model's pass asks for
        return self._inner.score(block, seen)

    def score_last(self, block: Block, cache: Cache) -> Logits:
        """As the model does: prompts are scored by this."""
        return self._inner.score_last(block, cache)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens."""
        return self._inner.decode(tokens)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation."""
        return self._inner.encode(messages)

    def identity(self) -> dict[str, Any]:
        """The model's own."""
        return self._inner.identity()


class _Blank:
    """A cache whose committed entries read as zeros."""

    def __init__(self, inner: Cache) -> None:
        self._inner = inner
        self.lengths: Ints = inner.lengths

    def write(self, layer: int, keys: Tensor, values: Tensor) -> Entries:
        """The block's own entries, and nothing before them."""
        found = self._inner.write(layer, keys, values)
        committed = torch.arange(found.keys.shape[2])[None] < torch.from_numpy(self.lengths)[:, None]
        return Entries(*(part.masked_fill(committed[:, None, :, None], 0.0) for part in found))


class SiblingsAttend(HuggingFaceModel):
    """A tree is scored under a chain's mask: every node sees all that were numbered before it (F62)."""

    def __init__(self, inner: HuggingFaceModel) -> None:
        self.__dict__.update(inner.__dict__)

    def _masks(self, seen: npt.NDArray[np.bool_], places: Tensor, cache: Cache) -> Any:
        nodes = places.shape[1]
        wide = np.broadcast_to(seen, (len(cache.lengths), *seen.shape[1:])).copy()
        for row, length in enumerate(cache.lengths):
            wide[row, :, length : length + nodes] |= np.tri(nodes, dtype=bool)
        return super()._masks(wide, places, cache)


def see_the_block_only(strategies: Strategies) -> Strategies:
    """F53."""
    return replace(strategies, model=SeesItsBlockOnly)


def let_siblings_attend(strategies: Strategies) -> Strategies:
    """F62: of a model of transformers; any other stays as it is."""
    return replace(strategies, model=_siblings)


def _siblings(model: LanguageModel) -> LanguageModel:
    return SiblingsAttend(model) if isinstance(model, HuggingFaceModel) else model
