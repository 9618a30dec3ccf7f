"""Costs of rounds from times that were measured at some batches and widths, straight lines between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from ..errors import EngineError

Times = Mapping[tuple[int, int], float]


class Grid:
    """A function of two whole numbers, known where every one of some `rows` meets every one of some `columns`.

    Between them it is linear in each; beyond them it goes on as its last piece does, or stays what it is where only one
    is known.
    """

    def __init__(self, known: Times) -> None:
        self.rows = sorted({row for row, _ in known})
        self.columns = sorted({column for _, column in known})
        if not known or len(known) != len(self.rows) * len(self.columns):
            raise EngineError(
                f"times of {len(known)} pairs of batch and width are no table of {len(self.rows)} batches by "
                f"{len(self.columns)} widths; measure every batch at every width"
            )
        self._known = dict(known)

    def at(self, row: int, column: int) -> float:
        """The value there."""
        return along(self.rows, [self._in_row(known, column) for known in self.rows], row)

    def _in_row(self, row: int, column: int) -> float:
        return along(self.columns, [self._known[row, known] for known in self.columns], column)


def along(places: Sequence[int], values: Sequence[float], at: int) -> float:
    """The value of a function at `at` by the straight line through the two known `places` that are nearest to it."""
    if len(places) == 1:
        return values[0]
    right = min(max(bisect_left(places, at), 1), len(places) - 1)
    left = right - 1
    share = (at - places[left]) / (places[right] - places[left])
    return values[left] + share * (values[right] - values[left])


class MeasuredCosts:
    """Costs of rounds in seconds, as measured: `steps` by (rows, width), `drafts` of a draft's step by (rows, 1).

    Without drafts, drafting costs nothing.
    """

    def __init__(self, steps: Times, drafts: Times) -> None:
        self._steps = Grid(steps)
        self._drafts = Grid(drafts) if drafts else None
        self._found: dict[tuple[int, int], float] = {}

    def step(self, rows: int, width: int) -> float:
        """One pass of the target."""
        if (rows, width) not in self._found:  # a policy asks at every step, of the same few
            self._found[rows, width] = self._steps.at(rows, width)
        return self._found[rows, width]

    def draft(self, rows: int, length: int) -> float:
        """As many steps of the draft as it drafts tokens."""
        return length * self._drafts.at(rows, 1) if self._drafts else 0.0
