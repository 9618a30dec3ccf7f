"""What a drafter is: something that proposes continuations, as trees, and states the law each token was drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..request import Request
from ..tree import DraftTree

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a drafter may look at in one round, one entry a row.

    `contexts` are all committed tokens, `limits` the most tokens worth drafting (the rest would be cut), `chance`
    (rows, slots) the uniforms of this round's drafting, as many as the largest limit asks for, `rounds` how many rounds
    each row has had.
    """

    requests: Sequence[Request]
    contexts: Sequence[Sequence[int]]
    limits: Sequence[int]
    chance: Floats
    rounds: Sequence[int]


class Drafter(Protocol):
    """Proposes one tree a row. `begin` starts it anew, so nothing crosses batches; rows leave and join meanwhile."""

    length: int

    def begin(self, rows: int) -> None:
        """Forgets everything and makes room for `rows` requests."""

    def draft(self, situation: Situation) -> list[DraftTree]:
        """One tree a row, of at most `limits[row]` levels; a bare tree where nothing is proposed."""

    def observe(self, accepted: Sequence[int]) -> None:
        """Learns how many of its last proposals were kept in each row."""

    def select(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order: those that joined since the last draft stay behind the others."""

    def join(self, rows: int) -> None:
        """Makes room for so many more requests, behind those there are."""
