"""What a verifier promises, takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..sampling import draw
from ..tree import DraftTree

Floats = npt.NDArray[np.float64]


class Guarantee(StrEnum):
    """What the emitted tokens follow."""

    SAME_TOKENS = "SAME_TOKENS"
    SAME_LAW = "SAME_LAW"
    OWN_LAW = "OWN_LAW"
    NONE = "NONE"


class Rule(StrEnum):
    """The published acceptance rule that a verifier follows: how many tokens it keeps, beside what law they have."""

    TOKEN = "token"  # noqa: S105 - no password
    MULTI_DRAFT = "multi-draft"
    BLOCK = "block"
    TRAVERSAL = "traversal"


class Accepted(NamedTuple):
    """The outcome of a walk: the accepted nodes from the root down, and the token drawn after them."""

    path: list[int]
    last: int


class RowChance(NamedTuple):
    """The uniforms of one row in one round: one for each node, and one for the last token."""

    accept: Floats
    final: float

    def uniform(self, node: int) -> float:
        """The uniform that decides whether `node` is accepted."""
        return float(self.accept[node])

    def draw(self, probs: Floats) -> int:
        """The token that ends the round, drawn from `probs` (vocabulary,)."""
        return int(draw(probs, self.final))


class Verifier(Protocol):
    """Decides which drafted tokens are kept: a strategy of the decoder."""

    guarantee: Guarantee
    rule: Rule

    def verify(
        self, trees: Sequence[DraftTree], probs: Sequence[Floats], chances: Sequence[RowChance]
    ) -> list[Accepted]:
        """One outcome a row. `probs[row]` is (nodes, vocabulary): the target's law after each node."""
