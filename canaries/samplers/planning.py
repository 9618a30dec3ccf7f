"""How many draws an effect takes, and what effect so many draws show: the arithmetic of `draftgate plan`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...stats import chi_square, design
from ...suites import samplers as suites
from .checks.base import Rates, chi_square_rounds


class Asked(Protocol):
    """The command line of `draftgate plan`."""

    effect: float | None
    draws: int | None
    budget: float | None
    cells: int
    rate: float
    false_alarm: float | None
    miss: float | None


def rows(asked: Asked) -> list[dict[str, Any]]:
    """One row a test, for an effect or for so many draws; rates not given are those of the suite for samplers."""
    numbers = suites.load().design
    alarm, missed = asked.false_alarm or numbers.false_alarm, asked.miss or numbers.miss
    draws = int(asked.budget * asked.rate) if asked.budget else asked.draws
    effect = asked.effect or (None if draws else numbers.effect)
    tests = (
        ("chi_square", f"total variation, {asked.cells} cells", _chi_square(effect, draws, asked.cells, alarm, missed)),
        ("kolmogorov_smirnov", "gap of a CDF", _ks(effect, draws, alarm, missed)),
        ("support", "share of forbidden tokens", _rate(effect, draws, missed)),
    )
    return [
        {
            "test": test,
            "effect": f"{size:.3g} {unit}" if size < 1 else f"none: too few draws for any {unit}",
            "draws": n,
            "seconds": round(n / asked.rate, 3),
            "false_alarm": alarm,
            "miss": missed,
        }
        for test, unit, (size, n) in tests
    ]


def _chi_square(effect: float | None, draws: int | None, cells: int, alarm: float, miss: float) -> tuple[float, int]:
    """Cells of equal mass: the most draws that so many cells can need."""
    law = np.full(cells, 1 / cells)
    if effect is not None:
        return effect, chi_square_rounds(law, Rates(alarm, miss, effect))
    n = draws or 0
    return chi_square.design(n, law, false_alarm=alarm, miss=miss).detectable, n


def _ks(effect: float | None, draws: int | None, alarm: float, miss: float) -> tuple[float, int]:
    if effect is not None:
        return effect, design.ks_draws(effect, false_alarm=alarm, miss=miss)
    n = draws or 0
    return design.ks_detectable(n, false_alarm=alarm, miss=miss), n


def _rate(effect: float | None, draws: int | None, miss: float) -> tuple[float, int]:
    if effect is not None:
        return effect, design.rate_draws(effect, miss=miss)
    n = draws or 0
    return design.rate_detectable(n, miss=miss), n
