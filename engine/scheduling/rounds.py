"""What a scheduler asks of a way to decode: `Speculation` for drafts, `Stepping` for one token a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..decoding.answer import Answer
from ..models.base import LanguageModel
from ..request import Request

Floats = npt.NDArray[np.float64]


class Rounds(Protocol):
    """Rounds of rows that come and go."""

    @property
    def model(self) -> LanguageModel:
        """The target."""

    @property
    def length(self) -> int:
        """The most tokens that are drafted for a row in a round."""

    @property
    def nodes(self) -> int:
        """The most entries that a round writes behind a row, before it is known which of them stay."""

    def opened(self, request: Request, started: float) -> Answer:
        """An answer without a token, its clock running since `started`."""

    def begin(self) -> None:
        """No row takes part yet."""

    def join(self, rows: int) -> None:
        """So many more rows take part, behind those there are."""

    def select(self, rows: Sequence[int]) -> None:
        """Of the rows that take part these stay, in their order."""

    def first(self, answers: Sequence[Answer], probs: Floats) -> None:
        """Each answer takes a token of the law that prefill gave, (rows, vocabulary)."""

    def round(self, answers: Sequence[Answer], cache: Cache, lengths: Sequence[int]) -> None:
        """One round of all rows; at most `lengths[row]` tokens are drafted for a row."""
