"""The smallest laws on which a sampler shows its fault: fractions that can be read, and a test to paste.

Hypothesis looks for laws without history that a wager refutes at odds of a billion to one, and shrinks them. A fault
that needs history, mixed batches or long runs has no such example, and then there is none to show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch

from ...stats import e_process
from ...stats.counts import checked_law
from ...stats.strategies import Chain, Law, smallest
from ..errors import ContractBroken
from .drafting import Settings
from .interface import Pair, Sampler
from .laws import Bundle, Problem
from .trial import Trial

Mass = str | float | Fraction
ODDS = math.log(1e9)
"""Wealth at which laws count as refuted: chance alone does not reach it in all the examples of a search."""
ROUNDS = 4096
"""Rounds drawn on one example: a total variation of 0.1 is found. Smaller faults are shown on the laws of the suite."""
EXAMPLES = 100
"""Examples that are tried before the search is given up: planted faults that laws show at all show in the first 30."""


class Minimal(NamedTuple):
    """Failing laws, and what became of them: the outcome whose share is furthest from its chance."""

    laws: Chain
    outcome: tuple[int, ...]
    chance: Fraction
    share: float

    def text(self) -> str:
        """For people."""
        rows = [f"  p{i + 1} = {_row(p)}" + (f"   q{i + 1} = {_row(q)}" if q else "") for i, (p, q) in _rows(self.laws)]
        seen = f"  {self.outcome} comes in {self.share:.3f} of rounds; its chance is {self.chance}"
        return "\n".join(
            [f"smallest failing laws: K = {len(self.laws.draft)}, V = {self.laws.vocabulary}", *rows, seen]
        )

    def test(self, name: str) -> str:
        """A test to paste; `name` is the sampler's."""
        target, draft = ([list(map(str, law)) for law in laws] for laws in self.laws)
        return (
            "import draftgate.testing\n\n\n"
            f"def test_{name}_follows_the_target():\n"
            f"    draftgate.testing.assert_follows({name}, target={target!r}, draft={draft!r})\n"
        )


def chain_of(target: Sequence[Sequence[Mass]], draft: Sequence[Sequence[Mass]]) -> Chain:
    """Laws as somebody wrote them, in fractions. Raises ValueError that names the first that is none."""
    if len(target) != len(draft) + 1:
        raise ValueError(f"{len(target)} laws of the target and {len(draft)} of the draft; give K + 1 laws and K")
    named = [
        (f"{what}[{i}]", law) for what, laws in (("target", target), ("draft", draft)) for i, law in enumerate(laws)
    ]
    found = [_fractions(name, law, len(target[0])) for name, law in named]
    return Chain(tuple(found[: len(target)]), tuple(found[len(target) :]))


def _fractions(name: str, law: Sequence[Mass], vocabulary: int) -> Law:
    if len(law) != vocabulary:
        raise ValueError(f"{name} has {len(law)} tokens and target[0] {vocabulary}; give all laws the same tokens")
    try:
        found = tuple(Fraction(mass) for mass in law)
        checked_law(np.array([float(mass) for mass in found]))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} is {list(law)}: {error}") from error
    return found


def problem_of(laws: Chain) -> Problem:
    """The laws as a problem without memory."""
    target, draft = (tuple(np.array([[float(x) for x in law]]) for law in several) for several in laws)
    return Problem(name="example", target=target, draft=draft)


def refuted(sampler: Sampler | Pair, laws: Chain, settings: Settings, rounds: int = ROUNDS) -> tuple[float, Minimal]:
    """The log of the wealth that a wager against these laws makes in so many rounds, and what came out most wrongly."""
    problem = problem_of(laws)
    trial = Trial(Bundle("example", (problem,)), sampler, settings)
    trial.run(-(-rounds // trial.rows))
    assert trial.seen.joint is not None
    counts, law = trial.seen.joint[0], problem.joint()
    wealth = e_process.log_wealth(counts, law, weights=(10, 100, 1000))
    worst = int(np.abs(counts / counts.sum() - law).argmax())
    outcome = tuple(int(i) for i in np.unravel_index(worst, (laws.vocabulary,) * len(laws.target)))
    chance = math.prod((p[token] for p, token in zip(laws.target, outcome, strict=True)), start=Fraction(1))
    return wealth, Minimal(laws, outcome, chance, float(counts[worst] / counts.sum()))


def minimal(sampler: Sampler | Pair, make: Callable[[], Settings]) -> Minimal | None:
    """The smallest failing example that was found, or None. `make` gives the same chance anew for every example."""

    def fails(laws: Chain) -> bool:
        try:
            return refuted(sampler, laws, make())[0] >= ODDS
        except ContractBroken:
            return False  # another fault, which has its own message

    found = smallest(fails, most_examples=EXAMPLES)
    return refuted(sampler, found, make())[1] if found else None


def settings_for(seed: int, batch: int, seconds: float) -> Callable[[], Settings]:
    """Chance and call size for a search: the same for every example, so that the search can be repeated."""

    def make() -> Settings:
        ours, theirs = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + 1)
        return Settings(ours=ours, theirs=theirs, batch=batch, seconds=seconds)

    return make


def _rows(laws: Chain) -> Iterator[tuple[int, tuple[Sequence[Fraction], Sequence[Fraction]]]]:
    return enumerate(zip(laws.target, (*laws.draft, ()), strict=True))


def _row(law: Sequence[Fraction]) -> str:
    return f"({', '.join(map(str, law))})"
