"""Proves or breaks somebody's own sampler on the same small cases: chains, or the one shape of tree that it takes.

Three answers: every case holds; a case does not, and this is the smallest one; or the sampler cannot be followed
exactly, which proves nothing either way and leaves the word to the designed tests. What is proved is one call, with one
row and, for chains, with two; what a sampler carries from call to call is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import torch

from ....stats.symbolic import NotEnumerable
from ..calling import TimeIsUp
from ..interface import Adapted, Pair, Sampler
from .cases import ZERO, Case, histories, random_case, rational
from .rules import CHAINS, Shapes
from .samplers import Enumerated, Sequential, rows_distance, sequence_round, torch_round
from .shrink import forgetful, is_chain, smallest, told

Enumerate: TypeAlias = Callable[[Case], Enumerated]
SHAPES: Shapes = ((3, CHAINS[0][1]), (3, CHAINS[1][1]), (2, CHAINS[2][1]))
"""Smaller than for our own rules: a torch sampler takes a millisecond a path."""
ROWS: Shapes = ((2, CHAINS[0][1]), (2, CHAINS[1][1]))
"""For two rows at once: their paths multiply."""
ROWS_SHARE = 10
"""One pair of rows is enumerated for so many cases of one row, which takes about as long."""
SHRINK_TRIES = 150
LATE = "the time for small cases is up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The smallest case that was found to fail, and its distance from the target's law; `beside` is a second row's."""

    case: Case
    distance: Fraction
    beside: Case | None = None

    def text(self) -> list[str]:
        """For people."""
        off = f"off by a total variation of {self.distance} = {float(self.distance):.3g}"
        if self.beside is None:
            return [off, *told(self.case)]
        return [f"two rows of one call: {off}", *told(self.case), "and beside it", *told(self.beside)]

    def test(self, name: str) -> str:
        """A test to paste, where laws without memory and a single row show the fault; `name` is the sampler's."""
        if self.beside is not None or not forgetful(self.case) or not is_chain(self.case):
            return ""
        target, draft = (
            [[str(x) for x in of[t]] for t in of if not any(t)] for of in (self.case.target, self.case.draft)
        )
        return (
            "import draftgate.testing\n\n\n"
            f"def test_{name}_follows_the_target():\n"
            f"    draftgate.testing.assert_follows({name}, target={target!r}, draft={draft!r})\n"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerProof:
    """What `cases` cases showed. slack: distances up to it are rounding; 0 where all was rational.

    shapes
        Those of the cases, each with its largest vocabulary.
    row_pairs
        How often two rows of one call were looked at together.

    At most one of `broken` and `out_of_reach` is there; with neither, the sampler is proved on these cases.
    """

    cases: int
    slack: float = 0.0
    broken: Counterexample | None = None
    out_of_reach: str | None = None
    shapes: Shapes = ()
    row_pairs: int = 0

    @property
    def scope(self) -> str:
        """What the cases were, in words: nothing beyond it is proved."""
        shapes = [(f"K = {len(p) - 1}" if _chain(p) else f"parents {list(p)}", v) for v, p in self.shapes]
        one = ", ".join(f"{shape} with V <= {v}" for shape, v in shapes)
        two = ", ".join(f"K = {len(parents) - 1} with V = {v}" for v, parents in ROWS)
        beside = f"{self.row_pairs} pairs of rows in one call: {two}" if self.row_pairs else "no two rows in one call"
        return f"{self.cases} cases of one row: {one}; {beside}"

    @property
    def proved(self) -> bool:
        """Whether every case holds."""
        return self.broken is None and self.out_of_reach is None and self.cases > 0

    def example(self, name: str) -> str:
        """The smallest failing laws, and a test to paste where there is one."""
        if self.broken is None:
            return ""
        return "\n\n".join(
            filter(None, ["\n".join(["smallest failing laws", *self.broken.text()]), self.broken.test(name)])
        )


def chain_case(target: Sequence[Sequence[Fraction]], draft: Sequence[Sequence[Fraction]]) -> Case:
    """The case of K + 1 laws of the target and K of the draft, the same whatever came before."""
    vocabulary, k = len(target[0]), len(draft)
    laws = [{text: rational(of[len(text)]) for text in histories(vocabulary, len(of))} for of in (target, draft)]
    return Case(vocabulary, tuple(range(-1, k)), *laws)


def prove_sampler(
    sampler: Sampler | Pair, *, cases: int, seed: int, dtype: torch.dtype = torch.float64
) -> SamplerProof:
    """A sampler of the interface, or a pair: row by row, then two rows of a call together. Its own errors pass.

    Ends with the first case that fails or cannot be followed.
    """
    parents = sampler.parents if isinstance(sampler, Adapted) else ()
    shapes = ((3, parents),) if parents else SHAPES
    one_row = partial(_prove, lambda case: torch_round(case, sampler, dtype), seed=seed, shapes=shapes)
    if parents:
        return one_row(cases=cases)  # the paths of two trees are too many
    for upto in (min(cases, ROWS_SHARE), cases):  # rows that share chance show at once
        found = one_row(cases=upto)
        if found.proved:
            found = _prove_rows(found, partial(rows_distance, sampler=sampler, dtype=dtype), seed)
        if not found.proved:
            break
    return found


def prove_sequence(function: Sequential, *, cases: int, seed: int) -> SamplerProof:
    """A Python function of one sequence with a numpy generator."""
    return _prove(lambda case: sequence_round(case, function), cases=cases, seed=seed)


def _prove(enumerate_case: Enumerate, *, cases: int, seed: int, shapes: Shapes = SHAPES) -> SamplerProof:
    slack = 0.0
    for index in range(cases):
        case = random_case(seed, index, shapes)
        try:
            found = enumerate_case(case)
        except NotEnumerable as error:
            return SamplerProof(cases=index, slack=slack, out_of_reach=str(error), shapes=shapes)
        except TimeIsUp:
            return SamplerProof(cases=index, slack=slack, out_of_reach=LATE, shapes=shapes)
        slack = max(slack, found.slack)
        if distance := found.distance(case):
            broken = _shrunk(enumerate_case, Counterexample(case=case, distance=distance))
            return SamplerProof(cases=index + 1, slack=slack, broken=broken, shapes=shapes)
    return SamplerProof(cases=cases, slack=slack, shapes=shapes)


def _shrunk(enumerate_case: Enumerate, found: Counterexample) -> Counterexample:
    """The smallest that is found in time."""
    try:
        small = smallest(found.case, lambda one: _distance(enumerate_case, one) > 0, most_tries=SHRINK_TRIES)
        return Counterexample(case=small, distance=_distance(enumerate_case, small))
    except TimeIsUp:
        return found


def _prove_rows(proof: SamplerProof, distance: Callable[[tuple[Case, Case]], Fraction], seed: int) -> SamplerProof:
    """`proof`, unless two rows of one call give the lie to it."""
    for index in range(-(-proof.cases // ROWS_SHARE)):
        shape = ROWS[index % len(ROWS)]
        rows = random_case(seed, 2 * index, (shape,)), random_case(seed, 2 * index + 1, (shape,))
        try:
            found = distance(rows)
        except NotEnumerable as error:
            return replace(proof, out_of_reach=f"two rows at once: {error}")
        except TimeIsUp:
            return replace(proof, out_of_reach=f"two rows at once: {LATE}")
        proof = replace(proof, row_pairs=index + 1)
        if found:
            return replace(proof, broken=Counterexample(case=rows[0], distance=found, beside=rows[1]))
    return proof


def _distance(enumerate_case: Enumerate, case: Case) -> Fraction:
    """How far the sampler's law lies from the target's; 0 where rounding may explain it or it cannot be followed."""
    try:
        return enumerate_case(case).distance(case)
    except NotEnumerable:
        return ZERO


def _chain(parents: Sequence[int]) -> bool:
    return tuple(parents) == tuple(range(-1, len(parents) - 1))
