"""What the data say about one hypothesis. Knows no error rate and decides nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the data say about one hypothesis. It decides nothing.

    test
        The function that made it: "chi_square.goodness_of_fit".
    hypothesis
        In words: "next tokens at temperature 0.8 follow the target's law".
    n
        How many draws, tokens or places were looked at; 0 is allowed and can never pass.
    statistic, p_value
        A NaN says "could not be computed" and can never pass. Under the hypothesis `P(p_value <= a) <= a`.
    details
        Numbers for the reader; no finding depends on them.
    """

    test: str
    hypothesis: str
    n: int
    statistic: float
    p_value: float
    details: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no test can mean."""
        if self.n < 0:
            raise ValueError(f"{self.test}: n is {self.n}; it counts draws and cannot be negative")
        if not (math.isnan(self.p_value) or 0 <= self.p_value <= 1):
            raise ValueError(f"{self.test}: p_value is {self.p_value}; it must lie in [0, 1] or be NaN")

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain values that strict JSON can hold; `from_json` gives the same evidence back."""
        return {
            "test": self.test,
            "hypothesis": self.hypothesis,
            "n": int(self.n),
            "statistic": number_to_json(self.statistic),
            "p_value": number_to_json(self.p_value),
            "details": {name: number_to_json(value) for name, value in self.details.items()},
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Evidence:
        """The evidence that `to_json` wrote."""
        return cls(
            test=record["test"],
            hypothesis=record["hypothesis"],
            n=record["n"],
            statistic=float(record["statistic"]),
            p_value=float(record["p_value"]),
            details={name: float(value) for name, value in record["details"].items()},
        )


def number_to_json(value: float) -> float | str:
    """A finite number as it is; "nan", "inf" and "-inf" as text, which `float` reads and strict JSON accepts."""
    return float(value) if math.isfinite(value) else str(float(value))
