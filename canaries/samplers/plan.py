"""What will be drawn and what that can show, fixed before any data: tests, their shares, effects and rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...stats.ledger import Ledger
from ...suites.samplers import SamplerSuite
from ..errors import UsageError
from .checks import bound, drafter, independence, law, pit, rule, temperature, wager
from .checks.base import Rates, Test
from .checks.reference import ReferenceTest
from .interface import Adapted, Pair, Sampler
from .laws import Bundle, Problem, problem
from .rules import Shape

REFERENCE = "reference reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What is asked beside the law: a declared rule and the shape of its drafts, a drafter's honesty, a reference.

    `per_sequence`: it is called in the batches of samplers that take row by row.
    """

    rule: str = "unknown"
    shape: Shape = Shape()
    pair: bool = False
    greedy: bool = False
    per_sequence: bool = False
    reference: bool = False

    @classmethod
    def of(cls, sampler: Sampler | Pair, rule: str, *, reference: bool) -> Demands:
        """The demands on this sampler. Raises UsageError for a rule that cannot be judged there."""
        if rule != "unknown" and isinstance(sampler, Pair):
            raise UsageError(
                f"--rule {rule} needs to know how drafts are drawn, and a pair draws its own; leave it out"
            )
        if rule == "block" and depth_of(sampler):
            raise UsageError("--rule block is a rule for chains; for trees give multi-draft, or leave it out")
        adapted = sampler if isinstance(sampler, Adapted) else None
        shape = Shape(adapted.parents, adapted.distinct) if adapted else Shape()
        return cls(
            rule=rule,
            shape=shape,
            pair=isinstance(sampler, Pair),
            greedy=bool(adapted and adapted.greedy),
            per_sequence=bool(adapted and adapted.per_sequence),
            reference=reference,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All of a run that is decided before it.

    effect
        The total variation that must not be missed, times each bundle's own multiple; other effects go with it.
    tests, rounds
        By bundle: what is asked, and how many rounds of each of its problems are drawn.
    independence
        What is asked of rounds beside one another; nothing where no chance is used.
    ledger
        Who may spend how much of the run's false-alarm rate.
    """

    suite: SamplerSuite
    effect: float
    bundles: tuple[Bundle, ...]
    tests: dict[str, tuple[Test, ...]]
    independence: independence.IndependenceTest | None
    rounds: dict[str, int]
    ledger: Ledger

    def rates(self, test: Test | ReferenceTest) -> Rates:
        """What one test is held to."""
        return rates_of(test, self.suite, self.effect, self.ledger)

    @property
    def coins(self) -> int:
        """Rounds that the test of independence needs."""
        return self.independence.rounds(self.rates(self.independence)) if self.independence else 0

    @property
    def total_rounds(self) -> int:
        """Rounds of all bundles, and those of the test of independence."""
        return sum(self.rounds[b.name] * len(b.problems) for b in self.bundles) + self.coins


def plan(suite: SamplerSuite, bundles: Sequence[Bundle], effect: float, demands: Demands) -> Plan:
    """The plan for these bundles."""
    tests = {bundle.name: _tests(suite, bundle, effect, demands) for bundle in bundles}
    rows = suite.calls.per_sequence_batch if demands.per_sequence else suite.calls.batch
    coins = independence.IndependenceTest.planned(suite.independence, rows, bundles[0].draft_length)
    asked: list[Test] = [
        *(test for several in tests.values() for test in several),
        *([] if demands.greedy else [coins]),
    ]
    names = [row_of(test) for test in asked]
    names += [f"{wager.CHECK} {bundle.name}" for bundle in bundles]
    names += [REFERENCE] if demands.reference else []
    ledger = Ledger.split(total=suite.design.false_alarm, weights=dict.fromkeys(names, 1.0))
    rounds = {
        name: max(test.rounds(rates_of(test, suite, effect, ledger)) for test in several)
        for name, several in tests.items()
    }
    return Plan(
        suite=suite,
        effect=effect,
        bundles=tuple(bundles),
        tests=tests,
        independence=None if demands.greedy else coins,
        rounds=rounds,
        ledger=ledger,
    )


def _tests(suite: SamplerSuite, bundle: Bundle, effect: float, demands: Demands) -> tuple[Test, ...]:
    scaled = suite.temperature.effect * effect / suite.design.effect
    return (
        *law.planned(bundle),
        *pit.planned(bundle),
        *([] if demands.greedy else temperature.planned(bundle, scaled, suite.temperature.span)),
        *rule.planned(bundle, demands.rule, demands.shape),
        *([] if demands.shape.parents or demands.pair else bound.planned(bundle)),
        *(drafter.planned(bundle) if demands.pair else []),
    )


def rates_of(test: Test | ReferenceTest, suite: SamplerSuite, effect: float, ledger: Ledger) -> Rates:
    """A test's share and effect. Effects grow with the one that is asked for, those on equality of rounds aside."""
    own = {
        "temperature": suite.temperature.effect,
        "drafter": suite.drafter.effect,
        "independence": suite.independence.effect,
        "reference": suite.reference.effect,
    }
    multiple = next((spec.effect_multiple for spec in suite.bundles if spec.name == test.bundle), 1.0)
    scale = 1.0 if test.check in {"independence", "reference"} else multiple * effect / suite.design.effect
    return Rates(ledger.share(row_of(test)), suite.design.miss, own.get(test.check, suite.design.effect) * scale)


def bundles_of(suite: SamplerSuite, seed: int, sampler: Sampler | Pair) -> list[Bundle]:
    """The suite's bundles, their laws drawn anew from `seed`, as deep as the trees that `sampler` takes."""
    made, rows = [], [(np.array(p), np.array(q)) for p, q in suite.rows]
    for number, spec in enumerate(suite.bundles):
        rng = np.random.default_rng([seed, number])
        shape = (spec.vocabulary, depth_of(sampler) or spec.draft_length, spec.memory)
        made.append(
            Bundle(spec.name, tuple(suited(problem(name, shape, rng, rows), sampler) for name in spec.problems))
        )
    return made


def suited(found: Problem, sampler: Sampler | Pair) -> Problem:
    """The problem with drafts such as `sampler` takes: chosen ones, or laws that leave enough for distinct siblings."""
    if isinstance(sampler, Adapted) and sampler.chosen:
        return replace(found, draft=tuple(np.eye(q.shape[1])[q.argmax(axis=1)] for q in found.draft))
    if isinstance(sampler, Adapted) and sampler.greedy:
        return replace(found, target=tuple(np.eye(p.shape[1])[p.argmax(axis=1)] for p in found.target))
    if isinstance(sampler, Adapted) and sampler.distinct:
        return replace(found, draft=tuple(0.8 * q + 0.2 / q.shape[1] for q in found.draft))
    return found


def depth_of(sampler: Sampler | Pair) -> int:
    """The depth of the trees that `sampler` takes; 0 for one that takes chains, whatever their length."""
    depth = [0]
    for parent in sampler.parents[1:] if isinstance(sampler, Adapted) else ():
        depth.append(depth[parent] + 1)
    return max(depth)


def row_of(test: Test | ReferenceTest) -> str:
    """A test's row in the ledger."""
    return f"{test.check} {test.cell}"
