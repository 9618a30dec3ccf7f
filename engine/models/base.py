"""What the engine asks of a model: logits for a block of tokens behind a cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..tree import chain_parents

Logits = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """The tokens to be scored in one pass, one tree of nodes a row, padded to the widest.

    tokens (rows, nodes); `parents[row]` as in DraftTree. Rows shorter than the widest are padded; what a model
    answers at padded nodes means nothing.
    """

    tokens: Ints
    parents: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, rows: Sequence[npt.ArrayLike], parents: Sequence[tuple[int, ...]]) -> Block:
        """Pads rows of tokens on the right with zeros."""
        width = max(map(len, parents))
        if min(map(len, parents)) == width:
            return cls(np.array(rows, np.int64), tuple(parents))
        tokens = np.zeros((len(rows), width), np.int64)
        for row, values in enumerate(rows):
            tokens[row, : len(parents[row])] = values
        return cls(tokens, tuple(parents))

    @classmethod
    def chains(cls, rows: Sequence[Sequence[int]] | Sequence[Ints]) -> Block:
        """One chain a row."""
        return cls.of(rows, [chain_parents(len(row) - 1) for row in rows])

    @property
    def lengths(self) -> Ints:
        """(rows,): nodes that are not padding."""
        return np.array([len(p) for p in self.parents])


class Bounded(Protocol):
    """Anything that takes so many different tokens, at so many positions."""

    vocabulary: int
    positions: int


class LanguageModel(Bounded, Protocol):
    """A causal language model that scores nodes at explicit positions under a tree mask."""

    def score(self, block: Block, cache: Cache) -> Logits:
        """Logits (rows, nodes, vocabulary) after each node, given cache and ancestors. Writes the cache."""

    def score_last(self, block: Block, cache: Cache) -> Logits:
        """Logits (rows, vocabulary) after each row's last node only: for prefill, where the rest is not needed."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens."""

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, the assistant's turn opened."""

    def identity(self) -> dict[str, Any]:
        """What this model is: digests and sizes, as plain JSON."""


CacheFactory = Callable[[int], Cache]
