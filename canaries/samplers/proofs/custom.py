"""Proves or breaks somebody's own sampler on the same small cases: chains, since that is what the interface takes.

Three answers: every case holds; a case does not, and this is the smallest one; or the sampler cannot be followed
exactly, which proves nothing either way and leaves the word to the designed tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ....stats.symbolic import NotEnumerable
from .cases import ZERO, Case, random_case
from .rules import CHAINS, Shapes
from .samplers import Enumerated
from .shrink import smallest, told

Enumerate: TypeAlias = Callable[[Case], Enumerated]
"""`partial(torch_round, sampler=...)` or `partial(sequence_round, function=...)`, as a function of the case."""
SHAPES: Shapes = ((3, CHAINS[0][1]), (3, CHAINS[1][1]), (2, CHAINS[2][1]))
"""Smaller than for our own rules: a torch sampler takes a millisecond a path."""
SHRINK_TRIES = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The smallest case that was found to fail, and its distance from the target's law."""

    case: Case
    distance: Fraction

    def text(self) -> list[str]:
        """For people."""
        return [f"off by a total variation of {self.distance} = {float(self.distance):.3g}", *told(self.case)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerProof:
    """What `cases` cases showed. slack: distances up to it are rounding; 0 where all was rational.

    At most one of `broken` and `out_of_reach` is there; with neither, the sampler is proved on these cases.
    """

    cases: int
    slack: float
    broken: Counterexample | None = None
    out_of_reach: str | None = None

    @property
    def proved(self) -> bool:
        """Whether every case holds."""
        return self.broken is None and self.out_of_reach is None and self.cases > 0


def prove_sampler(enumerate_case: Enumerate, *, cases: int, seed: int) -> SamplerProof:
    """The proof on `cases` cases, ended by the first that fails or cannot be followed. The sampler's errors pass."""
    slack = 0.0
    for index in range(cases):
        case = random_case(seed, index, SHAPES)
        try:
            found = enumerate_case(case)
        except NotEnumerable as error:
            return SamplerProof(cases=index, slack=slack, out_of_reach=str(error))
        slack = max(slack, found.slack)
        if found.distance(case):
            small = smallest(case, lambda one: distance(enumerate_case, one) > 0, most_tries=SHRINK_TRIES)
            broken = Counterexample(case=small, distance=distance(enumerate_case, small))
            return SamplerProof(cases=index + 1, slack=slack, broken=broken)
    return SamplerProof(cases=cases, slack=slack)


def distance(enumerate_case: Enumerate, case: Case) -> Fraction:
    """How far the sampler's law lies from the target's; 0 where rounding may explain it or it cannot be followed."""
    try:
        return enumerate_case(case).distance(case)
    except NotEnumerable:
        return ZERO
