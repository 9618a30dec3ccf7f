"""Do tokens of a large vocabulary follow their laws? Each becomes a number that is uniform if they do.

Randomised probability integral transform, likelier tokens first: a wrong temperature then shifts all one way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....stats import kolmogorov_smirnov
from ....stats.evidence import Evidence
from ...contracts import Reason
from ..laws import Bundle, Floats
from ..trial import Ints, few_outcomes
from .base import Look, Rates, Test, UniformNumbers


@dataclass(frozen=True, slots=True)
class PitTest(UniformNumbers):
    """Kolmogorov-Smirnov with the DKW bound: the tokens of one problem at one position, in all states."""

    bundle: str
    cell: str
    index: int
    laws: Floats
    place: int
    check: str = "pit"
    reason: Reason = Reason.DISTRIBUTION

    def evidence(self, look: Look, _: Rates) -> Evidence:
        """The counted tokens, transformed."""
        counts = look.seen.tokens[self.place].reshape(len(look.seen.classes), -1, self.laws.shape[1])
        numbers = uniforms(counts[self.index], self.laws, look.chance)
        text = "emitted tokens follow the target's law at their own history"
        return kolmogorov_smirnov.uniform_ks(numbers, hypothesis=text)


def uniforms(counts: Ints, laws: Floats, chance: np.random.Generator) -> Floats:
    """One number a counted token: uniform on [0, 1] where each row of `counts` (rows, V) follows its row of `laws`."""
    order = np.argsort(-laws, axis=1, kind="stable")
    mass = np.take_along_axis(laws, order, axis=1)
    times = np.take_along_axis(counts, order, axis=1).reshape(-1)
    below = (mass.cumsum(axis=1) - mass).reshape(-1)
    return kolmogorov_smirnov.randomised_pit(
        np.repeat(below, times), np.repeat(mass.reshape(-1), times), chance.random(int(times.sum()))
    )


def planned(bundle: Bundle) -> list[Test]:
    """One test a problem and position, where outcomes are too many to count."""
    return [
        PitTest(bundle.name, f"{bundle.name}/{problem.name}/{place + 1}", index, laws, place)
        for index, problem in enumerate(bundle.problems)
        if not few_outcomes(bundle)
        for place, laws in enumerate(problem.target)
    ]
