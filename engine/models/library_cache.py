"""This engine's caches as transformers takes them: for one pass of the engine's, or for the library's own `generate`.

The library keeps no root and paths: what it wrote it keeps, until it crops it.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from ..cache.base import Cache
from .pretrained import TheirCache


class PassCache(TheirCache):  # type: ignore[misc]  # transformers is untyped here
    """Hands transformers' `update` calls to the engine's cache; whoever calls the model commits."""

    def __init__(self, inner: Cache) -> None:
        super().__init__(layers=[])
        self.inner = inner

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Writes the block and returns all entries of the layer."""
        return self.inner.write(layer_idx, key_states, value_states)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Longest committed row; only read by code that our explicit masks and positions make idle."""
        del layer_idx
        return int(self.inner.lengths.max(initial=0))


class LibraryCache(PassCache):
    """A cache for `model.generate(cache=...)`, with as many rows as the call has (beams count).

    A block is committed when the next one begins, or as soon as the library asks to shorten or reorder.
    """

    def __init__(self, inner: Cache) -> None:
        super().__init__(inner)
        self._written = 0

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Commits the block before, where this is the first layer of a new one; then as for one pass."""
        if layer_idx == 0:
            self._settle()
            self._written = key_states.shape[2]
        return super().update(key_states, value_states, layer_idx)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Tokens in each row."""
        return super().get_seq_length(layer_idx) + self._written

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """How many entries a block of so many tokens will be shown, and where they begin."""
        return self.get_seq_length(layer_idx) + query_length, 0

    def crop(self, tokens_to_remove: int) -> None:
        """Forgets the last tokens; their number is told as a negative one."""
        self._settle()
        self.inner.rewind(self.inner.lengths - abs(tokens_to_remove))

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Keeps these rows, in this order; beams that come of one row share its blocks."""
        self._settle()
        self.inner.select(beam_idx.tolist())

    def batch_select_indices(self, indices: Tensor) -> None:
        """As for beams."""
        self.reorder_cache(indices)

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Each row so many times, side by side."""
        self._settle()
        self.inner.select(np.repeat(np.arange(len(self.inner.lengths)), repeats).tolist())

    def _settle(self) -> None:
        if self._written:
            self.inner.commit([range(1, self._written)] * len(self.inner.lengths))
        self._written = 0
