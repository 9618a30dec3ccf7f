"""Plants in the end of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...engine.decoding.answer import Answer
from ..targets.strategies import Strategies


class EndsAtBlocksOnly(Answer):
    """Looks for the end of the sequence at the last token of a block only (F37)."""

    _left = 0

    def _take(self, tokens: Sequence[int]) -> int:
        self._left = len(tokens)
        return super()._take(tokens)

    def _ended(self, token: int) -> str | None:
        self._left -= 1
        ended = super()._ended(token)
        return None if ended == "eos" and self._left else ended


def end_at_blocks_only(strategies: Strategies) -> Strategies:
    """F37."""
    return replace(strategies, new_answer=EndsAtBlocksOnly)
