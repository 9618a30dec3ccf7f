"""One false-alarm budget for a whole run, split over its tests before any of them sees data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Row(NamedTuple):
    """One line of the ledger, for printing."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """Who may spend how much of `total`. By the union bound, the run alarms falsely with chance at most `total`."""

    total: float
    shares: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def split(cls, *, total: float, weights: Mapping[str, float]) -> Ledger:
        """A ledger whose shares are proportional to `weights` and sum to `total`."""
        if not 0 < total < 1:
            raise ValueError(f"a false-alarm budget of {total} cannot be split; it must lie strictly between 0 and 1")
        if not weights:
            raise ValueError("no test was named, so there is nobody to give the budget to")
        for name, weight in weights.items():
            if not (0 < weight < math.inf):
                raise ValueError(
                    f"the weight of {name!r} is {weight}; a test without a share cannot fail: leave it out"
                )
        whole = math.fsum(weights.values())
        return cls(total, {name: total * (weight / whole) for name, weight in weights.items()})

    def share(self, name: str) -> float:
        """The false-alarm rate that the test `name` may spend."""
        if name not in self.shares:
            raise ValueError(
                f"the ledger has no share for {name!r}; it was split over {', '.join(sorted(self.shares))}"
            )
        return self.shares[name]

    def rows(self) -> list[Row]:
        """The shares in the order they were given."""
        return [Row(name, share) for name, share in self.shares.items()]
