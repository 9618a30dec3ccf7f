"""A dialogue on a live cache: each answer begins from what the answer before it left.

The decoder's own loop runs; only its cache outlives the answer. A request's prompt is the whole visible text again: the
longest prefix that the cache holds of it is kept, the rest is forgotten and prefilled. Draft caches begin anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..cache.base import Cache
from ..request import Generation, Request
from ..sequences import shared_length
from .plain import PlainDecoder
from .speculative import SpeculativeDecoder


class Conversation:
    """One dialogue. `kept` is the number of entries that the last answer began from."""

    def __init__(self, decoder: PlainDecoder | SpeculativeDecoder) -> None:
        self.kept = 0
        self._cache = decoder.new_cache(1)
        self._decoder = replace(decoder, new_cache=self._live)
        self._held: tuple[
            int, ...
        ] = ()  # what was said: of it the cache holds the first tokens, and drafts behind them

    def answer(self, request: Request) -> Generation:
        """The answer to the whole visible text, as a fresh cache would give it."""
        shared = shared_length(self._held, request.prompt[:-1])  # the last is scored anew: the first law follows it
        self.kept = min(shared, int(self._cache.lengths[0]))
        self._cache.rewind(np.array([self.kept]))
        self._held = request.prompt[: self.kept]
        (generation,) = self._decoder.generate([request])
        self._held = (*request.prompt, *generation.tokens)
        return generation

    def _live(self, _: int) -> Cache:
        return self._cache
