"""A model whose law is known exactly: the next token depends on the position and on the last tokens, by a table.

It reads its history from the cache, like a real model, so that cache faults change what it says. The ground truth of
the distribution tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..cache.base import Cache
from .attention import visible
from .base import Block, Logits

Floats = npt.NDArray[np.float64]


class TableModel:
    """Logits `table[position % period, previous token, last token]`.

    `table` has shape (period, vocabulary, vocabulary, vocabulary), natural-log probabilities up to a constant; the
    first token of a prompt counts as its own predecessor.
    """

    positions = 1 << 30

    def __init__(self, table: npt.NDArray[np.floating]) -> None:
        self.table = np.ascontiguousarray(table, np.float32)
        self.vocabulary = self.table.shape[-1]

    def score(self, block: Block, cache: Cache) -> Logits:
        """Logits (rows, nodes, vocabulary) after each node."""
        history = self._write(block, cache)
        seen = visible(block, cache.lengths)
        rows, nodes, reach = seen.shape
        last = cache.lengths[:, None] + np.arange(nodes)  # its own entry; all that it sees stand before
        before = np.where(seen & (np.arange(reach) < last[:, :, None]), np.arange(reach), -1).max(axis=-1)
        before = np.where(before < 0, last, before)
        row, count = np.arange(rows)[:, None], seen.sum(axis=-1)
        logits: Logits = self.table[count % len(self.table), history[row, before], history[row, last]]
        return logits

    def score_last(self, block: Block, cache: Cache) -> Logits:
        """Logits (rows, vocabulary) after each row's last node."""
        return self.score(block, cache)[np.arange(len(block.parents)), block.lengths - 1]

    def law(self, prompt: Sequence[int]) -> Logits:
        """Logits (vocabulary,) after `prompt`, straight from the table: what `score` must agree with."""
        last, before = prompt[-1], prompt[-2] if len(prompt) > 1 else prompt[-1]
        row: Logits = self.table[len(prompt) % len(self.table), before, last]
        return row

    def decode(self, tokens: Sequence[int]) -> str:
        """Letters: a for 0, b for 1, and so on."""
        return "".join(chr(ord("a") + token % 26) for token in tokens)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Letters back to ids."""
        return tuple((ord(c) - ord("a")) % self.vocabulary for m in messages for c in m["content"])

    def identity(self) -> dict[str, Any]:
        """Shape and digest of the table."""
        return {
            "model": "table",
            "vocabulary": self.vocabulary,
            "sha256": hashlib.sha256(self.table.tobytes()).hexdigest(),
        }

    def _write(self, block: Block, cache: Cache) -> npt.NDArray[np.int64]:
        tokens = torch.from_numpy(block.tokens)[:, None, :, None]
        stored = cache.write(0, tokens, tokens).keys
        return stored[:, 0, :, 0].numpy()


def joint_law(probs_after: Mapping[tuple[int, ...], Floats], length: int) -> Floats:
    """The joint law of the next `length` tokens, shape (vocabulary ** length,), last token fastest.

    `probs_after[history]` is the law of the next token after each history of fewer than `length` tokens.
    """
    vocabulary = len(probs_after[()])
    law = np.ones(vocabulary**length)
    for index, tokens in enumerate(product(range(vocabulary), repeat=length)):
        for place, token in enumerate(tokens):
            law[index] *= probs_after[tokens[:place]][token]
    return law


def peaked_table(vocabulary: int, period: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """A language-model-like table: Zipf-peaked laws with the order shuffled anew in every context, plus near-ties.

    Flat laws hide bugs; these differ at every position and after every history.
    """
    rank = np.arange(1, vocabulary + 1, dtype=np.float64)
    shape = (period, vocabulary, vocabulary)
    steepness = rng.uniform(0.6, 2.0, (*shape, 1))
    logits = -steepness * np.log(rank) + rng.normal(0.0, 0.15, (*shape, vocabulary))
    return rng.permuted(logits, axis=-1).astype(np.float32)
