"""Where and how sampled answers differ from the plain law: figures for the reader, from which nothing follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from ...stats import kolmogorov_smirnov as ks
from ...stats import tempering
from ...suites.suite import Samples
from ..observations.context import seed_of
from ..observations.pairs import BASELINE, CANDIDATE
from .base import Case
from .drawn import Drawn


def figures(case: Case, numbers: Samples, drawn: Sequence[Drawn], told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Temperature, diversity, whether seeds repeat, and the places whose tokens differ."""
    known = [one for one in drawn if one.law]
    tempered = tempering.estimate(
        [(np.array([one.firsts(CANDIDATE).get(t, 0) for t in one.law or ()]), _masses(one)) for one in known],
        confidence=numbers.confidence,
    )
    total = sum(one.drawn[CANDIDATE].size for one in known)
    likeliest = sum(one.firsts(CANDIDATE).get(max(one.law or (), key=_mass(one)), 0) for one in known)
    expected = sum(one.drawn[CANDIDATE].size * _masses(one).max() for one in known)
    return {
        "temperature": case.cell.temperature * tempered.estimate if tempered else None,
        "temperature_low": case.cell.temperature * tempered.low if tempered else None,
        "temperature_high": case.cell.temperature * tempered.high if tempered else None,
        "likeliest_first": likeliest / total if total else None,
        "likeliest_first_by_law": float(expected) / total if total else None,
        "different_answers": sum(len(np.unique(one.drawn[CANDIDATE])) for one in drawn),
        "different_answers_baseline": sum(len(np.unique(one.drawn[BASELINE])) for one in drawn),
        "seeds_repeat": _repeated(told, CANDIDATE),
        "seeds_repeat_baseline": _repeated(told, BASELINE),
        "differs_at": differs_at(case, numbers, drawn, told),
    }


def differs_at(case: Case, numbers: Samples, drawn: Sequence[Drawn], told: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tokens whose places in their laws are not uniform, with the false discovery rate of the suite.

    Benjamini and Hochberg (1995), over all tokens of all prompts whose laws are known.
    """
    rng = np.random.default_rng(seed_of(case.seed, case.cell.name, "samples"))
    found: dict[str, float] = {}
    for one, also in zip(drawn, told, strict=True):
        numbered = one.drawn[CANDIDATE].ravel().tolist()
        for place in range(numbers.tokens):
            here = [(also["below"][n][place], also["prob"][n][place]) for n in numbered if len(one.answers[n]) > place]
            if here and not any(None in pair for pair in here):
                below, prob = np.array(here, np.float64).T
                values = ks.randomised_pit(below, prob, rng.uniform(size=len(below)))
                found[f"{one.canary}: token {place + 1}"] = ks.uniform_ks(values, hypothesis="uniform").p_value
    if not found:
        return []
    adjusted = false_discovery_control(list(found.values()))
    return [name for name, p in zip(found, adjusted, strict=True) if p <= numbers.false_discovery]


def _masses(one: Drawn) -> Any:
    return np.array(list((one.law or {}).values()))


def _mass(one: Drawn) -> Any:
    return (one.law or {}).get


def _repeated(told: Sequence[Mapping[str, Any]], arm: str) -> str:
    """How many answers came again when their seeds did."""
    pairs = [pair for one in told for pair in zip(one[arm][0], one["again"][arm], strict=True)]
    return f"{sum(first == second for first, second in pairs)} of {len(pairs)}"
