"""What will be drawn and what that can show, fixed before any data: tests, their shares, effects and rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...stats.ledger import Ledger
from ...suites.samplers import SamplerSuite
from .checks import law, pit, wager
from .checks.base import Rates, Test
from .laws import Bundle, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All of a run that is decided before it.

    effect
        The total variation that must not be missed, times each bundle's own multiple.
    tests, rounds
        By bundle: what is asked, and how many rounds of each of its problems are drawn.
    ledger
        Who may spend how much of the run's false-alarm rate.
    """

    suite: SamplerSuite
    effect: float
    bundles: tuple[Bundle, ...]
    tests: dict[str, tuple[Test, ...]]
    rounds: dict[str, int]
    ledger: Ledger

    def rates(self, test: Test) -> Rates:
        """What one test is held to."""
        design, multiple = self.suite.design, multiple_of(self.suite, test.bundle)
        return Rates(self.ledger.share(row_of(test)), design.miss, self.effect * multiple)

    @property
    def total_rounds(self) -> int:
        """Rounds of all bundles together."""
        return sum(self.rounds[b.name] * len(b.problems) for b in self.bundles)


def plan(suite: SamplerSuite, bundles: Sequence[Bundle], effect: float, extra: Sequence[str] = ()) -> Plan:
    """The plan for these bundles; `extra` names the tests that are not drawn from bundles, for their shares."""
    tests = {bundle.name: (*law.tests(bundle), *pit.tests(bundle)) for bundle in bundles}
    names = [row_of(test) for several in tests.values() for test in several]
    names += [f"{wager.CHECK} {bundle.name}" for bundle in bundles]
    ledger = Ledger.split(total=suite.design.false_alarm, weights=dict.fromkeys([*names, *extra], 1.0))
    rounds = {}
    for bundle in bundles:
        wanted = effect * multiple_of(suite, bundle.name)
        rates = [Rates(ledger.share(row_of(t)), suite.design.miss, wanted) for t in tests[bundle.name]]
        rounds[bundle.name] = max(t.rounds(r) for t, r in zip(tests[bundle.name], rates, strict=True))
    return Plan(suite=suite, effect=effect, bundles=tuple(bundles), tests=tests, rounds=rounds, ledger=ledger)


def bundles_of(suite: SamplerSuite, seed: int) -> list[Bundle]:
    """The suite's bundles, their laws drawn anew from `seed`."""
    made = []
    for number, spec in enumerate(suite.bundles):
        rng = np.random.default_rng([seed, number])
        shape = (spec.vocabulary, spec.draft_length, spec.memory)
        made.append(Bundle(spec.name, tuple(problem(name, shape, rng) for name in spec.problems)))
    return made


def row_of(test: Test) -> str:
    """A test's row in the ledger."""
    return f"{test.check} {test.cell}"


def multiple_of(suite: SamplerSuite, bundle: str) -> float:
    """How many times the effect a bundle is planned for."""
    return next((spec.effect_multiple for spec in suite.bundles if spec.name == bundle), 1.0)
