"""Does the law of the first K + 1 tokens equal the target's? Term by term where outcomes are few, else in coarse cells.

`joint` counts whole outcomes. Where they are too many, `marginal` counts the tokens at each position and `classes` the
tokens modulo S of all positions together, which sees what joins positions. `support`: one forbidden token is proof.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....stats import chi_square, support
from ....stats.design import Design, rate_draws
from ....stats.evidence import Evidence
from ...contracts import Reason
from ..laws import Bundle, Floats
from ..trial import Ints, Seen, few_outcomes
from .base import Look, Rates, Test, chi_square_rounds

MOST_MARGINAL = 64
"""Tokens of a vocabulary up to which each has a cell of its own."""


@dataclass(frozen=True, slots=True)
class LawTest:
    """Chi-square of the counts in a few cells. `place` is a position for `marginal`, else -1."""

    check: str
    bundle: str
    cell: str
    index: int
    law: Floats
    place: int = -1
    reason: Reason = Reason.DISTRIBUTION

    def rounds(self, rates: Rates) -> int:
        """Enough for the effect over all cells of positive mass."""
        return chi_square_rounds(self.law, rates)

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest distance seen, once thin cells are merged."""
        return chi_square.design(n, self.law, false_alarm=rates.false_alarm, miss=rates.miss)

    def counts(self, seen: Seen) -> Ints:
        """The counts of this test's cells."""
        if self.check == "joint":
            assert seen.joint is not None
            whole: Ints = seen.joint[self.index]
            return whole
        if self.check == "classes":
            coarse: Ints = seen.classes[self.index]
            return coarse
        tokens = seen.tokens[self.place]
        rows = len(tokens) // len(seen.classes)
        mine: Ints = tokens[self.index * rows : (self.index + 1) * rows].sum(axis=0)
        return mine

    def evidence(self, look: Look, rates: Rates) -> Evidence:
        """Counts outside the support are left to `support`."""
        return chi_square.goodness_of_fit(
            np.where(self.law > 0, self.counts(look.seen), 0),
            self.law,
            hypothesis="emitted tokens follow the target's law",
            floor=chi_square.expected_floor(rates.false_alarm),
        )


@dataclass(frozen=True, slots=True)
class SupportTest:
    """No emitted token may have mass 0. `laws` are those of the counted cells, (rows, cells)."""

    bundle: str
    cell: str
    index: int
    laws: tuple[Floats, ...]
    check: str = "support"
    reason: Reason = Reason.DISTRIBUTION

    def rounds(self, rates: Rates) -> int:
        """Enough to meet one at a rate of `rates.effect`."""
        return rate_draws(rates.effect, miss=rates.miss)

    def design(self, n: int, rates: Rates) -> Design:
        """The smallest rate of which one would have been met."""
        return support.design(n, false_alarm=rates.false_alarm, miss=rates.miss)

    def evidence(self, look: Look, _: Rates) -> Evidence:
        """Outcomes, or tokens at each position, where the law has none."""
        return self.outside(look.seen)

    def outside(self, seen: Seen) -> Evidence:
        """The same from the counts alone."""
        if seen.joint is not None:
            counted = [seen.joint[self.index][None]]
        else:
            counted = [x.reshape(len(seen.classes), -1, x.shape[1])[self.index] for x in seen.tokens]
        outside = sum(int(c[law == 0].sum()) for c, law in zip(counted, self.laws, strict=True))
        n = int(counted[0].sum())
        text = "no token is emitted that the target gives mass 0"
        return support.outside_support(min(outside, n), n, hypothesis=text)


def planned(bundle: Bundle) -> list[Test]:
    """The tests of all problems of a bundle. A law that leaves no choice has nothing but its support to test."""
    found: list[Test] = []
    for index, problem in enumerate(bundle.problems):
        cell = f"{bundle.name}/{problem.name}"
        if few_outcomes(bundle):
            law = problem.joint()
            found.append(SupportTest(bundle.name, cell, index, (law[None],)))
            if np.count_nonzero(law) > 1:
                found.append(LawTest("joint", bundle.name, cell, index, law))
            continue
        found.append(SupportTest(bundle.name, cell, index, problem.target))
        coarse = [("classes", cell, problem.reached(bundle.draft_length + 1), -1)]
        if bundle.vocabulary <= MOST_MARGINAL:
            places = range(bundle.draft_length + 1)
            coarse += [("marginal", f"{cell}/{place + 1}", problem.marginal(place), place) for place in places]
        for check, named, law, place in coarse:
            if np.count_nonzero(law) > 1:
                found.append(LawTest(check, bundle.name, named, index, law, place))
    return found
