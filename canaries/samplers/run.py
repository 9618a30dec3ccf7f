"""Draws what the plan asks for, a little of everything first, and stops where a wager is won."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from ...suites import samplers as suites
from ..contracts import Finding, Status
from ..errors import UsageError
from ..report.progress import Progress
from . import plan as plans
from .checks import base, independence, wager
from .checks.reference import ReferenceTest
from .drafting import Paired, Settings
from .interface import Adapted, Pair, Sampler
from .laws import Bundle
from .trial import Trial, twice

LARGE = 1000
"""Tokens of a vocabulary above which laws are handed out in smaller batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked about one sampler. `effect` None is the suite's; `budget` in seconds, None for no limit."""

    name: str
    rule: str = "unknown"
    seed: int = 0
    effect: float | None = None
    budget: float | None = None
    limit: float | None = None
    reference: Sampler | Pair | None = None
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


@dataclass(slots=True)
class Drawn:
    """What became of the draws. `hints` say what else stood out when a wager was won; they decide nothing."""

    findings: list[Finding]
    stopped_early: bool = False
    hints: list[str] = field(default_factory=list)
    emitted: dict[str, float] = field(default_factory=dict)


class Run:
    """One sampler, tried on the laws of one seed."""

    def __init__(self, sampler: Sampler | Pair, options: Options) -> None:
        self.sampler, self.options = sampler, options
        self.suite = suites.load()
        self.bundles = plans.bundles_of(self.suite, options.seed, sampler)
        self.plan: plans.Plan | None = None
        self.seconds = 0.0

    @property
    def batch(self) -> int:
        """The most rows of a call."""
        slow = isinstance(self.sampler, Adapted) and self.sampler.per_sequence
        return self.suite.calls.per_sequence_batch if slow else self.suite.calls.batch

    def _trial(self, bundle: Bundle, stream: int, sampler: Sampler | Pair | None = None) -> Trial:
        """A trial with chance of its own: one stream for each use in a run."""
        calls, device, batch = self.suite.calls, torch.device(self.options.device), self.batch
        if bundle.name == independence.BUNDLE:
            batch = min(batch, self.suite.independence.batch)
        seeds = np.random.SeedSequence([self.options.seed, stream]).generate_state(2, np.uint64) >> np.uint64(1)
        settings = Settings(
            ours=torch.Generator().manual_seed(int(seeds[0])),
            theirs=torch.Generator(device).manual_seed(int(seeds[1])),
            batch=min(batch, calls.large_batch) if bundle.vocabulary > LARGE else batch,
            seconds=self.options.limit or calls.seconds,
            dtype=self.options.dtype,
            device=device,
        )
        return Trial(bundle, sampler or self.sampler, settings)

    def prepare(self) -> None:
        """The plan stands; every bundle was tried before it: can calls be repeated, and how long do they take."""
        took = {}
        for number, bundle in enumerate(self.bundles):
            trial = self._trial(bundle, 100 + number)
            trial.run(1)
            trial.repeated()
            begun = time.perf_counter()
            trial.run(2)
            took[bundle.name] = (time.perf_counter() - begun) / (2 * trial.rounds_a_call)
        design, slow = self.suite.design, isinstance(self.sampler, Adapted) and self.sampler.per_sequence
        effect = self.options.effect or (design.effect_per_sequence if slow else design.effect)
        self._plan(effect, took)
        if self.options.budget is not None:
            self._afford(effect, self.options.budget, took)

    def _afford(self, effect: float, budget: float, took: dict[str, float]) -> None:
        """The plan for an effect that `budget` seconds buy. Draws go about with its inverse square."""
        coarsest, asked = self.suite.design.coarsest, self.seconds
        while self.seconds > budget:
            if effect >= coarsest:
                raise UsageError(
                    f"{budget:g} s buy no effect as small as {coarsest:g}, and above that nothing is judged; that one "
                    f"takes {self.seconds:.1f} s, and what was asked {asked:.1f} s: give --budget "
                    f"{math.ceil(1.2 * self.seconds)} or more"
                )
            effect = min(coarsest, 1.02 * effect * (self.seconds / budget) ** 0.5)
            self._plan(effect, took)

    def _plan(self, effect: float, took: dict[str, float]) -> None:
        reference = self.options.reference is not None
        demands = plans.Demands.of(self.sampler, self.options.rule, reference=reference)
        self.plan = plans.plan(self.suite, self.bundles, effect, demands)
        self.seconds = sum(self.plan.rounds[name] * each for name, each in took.items())
        first = self.bundles[0]
        self.seconds += self.plan.coins * took[first.name] / len(first.problems)

    def promise(self) -> str:
        """The first line of every run."""
        assert self.plan
        design = self.suite.design
        return (
            f"{self.options.name}: finds a total variation of {self.plan.effect:.2g} with {self.plan.total_rounds:,} "
            f"rounds in about {self.seconds:.0f} s; false alarm {design.false_alarm:g}, miss {design.miss:g}"
        )

    def required(self) -> dict[str, set[str]]:
        """The checks that must pass, by cell."""
        assert self.plan
        tests: list[base.Test] = [test for several in self.plan.tests.values() for test in several]
        found: dict[str, set[str]] = {}
        for test in [*tests, *([self.plan.independence] if self.plan.independence else [])]:
            found.setdefault(test.cell, set()).add(test.check)
        if self.options.reference is not None:
            found.setdefault("reference", set()).add("reference")
        return found

    def draw(self, progress: Progress) -> Drawn:
        """All findings; only the failed one where a wager was won early."""
        assert self.plan
        plan = self.plan
        trials = [self._trial(bundle, number) for number, bundle in enumerate(plan.bundles)]
        calls = [-(-plan.rounds[trial.bundle.name] // trial.rounds_a_call) for trial in trials]
        progress.total(sum(calls) + 2)
        chance = np.random.default_rng([self.options.seed, len(trials)])
        wagers = [wager.Wager(trial.bundle, self.suite.wager.weights) for trial in trials]
        first = [min(most, self.suite.wager.first) for most in calls]
        findings: list[Finding] = []
        for upto in (first, calls):  # gross faults of the law first, then what takes seconds, then all draws
            if early := self._race(trials, wagers, upto, progress):
                looks = [look_at(trial, chance) for trial in trials]
                return Drawn([early], stopped_early=True, hints=self._hints(trials, looks), emitted=_emitted(trials))
            if upto is first:
                progress.step("rounds beside one another, reference")
                findings = [*self._independence(), *self._reference()]
                if failed := [finding for finding in findings if finding.status == Status.FAIL]:
                    return Drawn(failed, stopped_early=True, emitted=_emitted(trials))
        progress.step("tests")
        for trial in trials:
            look = look_at(trial, chance)
            findings += [base.judge(test, look, plan.rates(test)) for test in plan.tests[trial.bundle.name]]
        return Drawn(findings, emitted=_emitted(trials))

    def _race(
        self, trials: Sequence[Trial], wagers: Sequence[wager.Wager], calls: Sequence[int], progress: Progress
    ) -> Finding | None:
        """Draws all calls, twice as many before each look; the first wager that is won ends it."""
        assert self.plan
        upto = self.suite.wager.first
        while any(trial.calls < most for trial, most in zip(trials, calls, strict=True)):
            for trial, bet, most in zip(trials, wagers, calls, strict=True):
                while trial.calls < min(upto, most):
                    progress.step(trial.bundle.name)
                    trial.run(1)
                bet.look(trial.seen)
                if won := bet.finding(self.plan.ledger.share(f"{wager.CHECK} {trial.bundle.name}")):
                    return won
            upto *= 2
        return None

    def _independence(self) -> list[Finding]:
        """The finding on independence, where chance is used."""
        assert self.plan
        if (test := self.plan.independence) is None:
            return []
        bundle = independence.bundle(self.suite.independence, self.bundles[0].draft_length)
        suited = Bundle(bundle.name, tuple(plans.suited(p, self.sampler) for p in bundle.problems))
        rates = self.plan.rates(test)
        test.draw(self._trial(suited, 50), rates)
        return [base.judge(test, None, rates)]

    def _reference(self) -> list[Finding]:
        """The finding on the reference, where there is one."""
        assert self.plan
        if self.options.reference is None:
            return []
        rows = differing = 0
        bundle = self.bundles[0]
        one, other = self._trial(bundle, 60), self._trial(bundle, 60, self.options.reference)
        while rows < self.suite.reference.rows:
            mine, theirs = twice(one, other)
            different = (mine.tokens != theirs.tokens).any(dim=1)
            different |= (mine.inputs.draft_tokens != theirs.inputs.draft_tokens).any(dim=1)
            rows, differing = rows + len(different), differing + int(different.sum())
        test = ReferenceTest(rows, differing, self.suite.reference.rate)
        return [base.judge(test, None, self.plan.rates(test))]

    def _hints(self, trials: Sequence[Trial], looks: Sequence[base.Look]) -> list[str]:
        """What other tests would say now. They were planned for all draws, so this is a help and no finding."""
        assert self.plan
        found = []
        for trial, look in zip(trials, looks, strict=True):
            for test in self.plan.tests[trial.bundle.name]:
                finding = base.judge(test, look, self.plan.rates(test))
                if finding.status == Status.FAIL and test.check not in {"joint", "marginal", "classes"}:
                    found.append(f"{test.check} ({test.cell}): {finding.summary}")
        return found


def look_at(trial: Trial, chance: np.random.Generator) -> base.Look:
    """What the tests of a trial's bundle may see."""
    return base.Look(trial.seen, chance, trial.drafting if isinstance(trial.drafting, Paired) else None)


def _emitted(trials: Sequence[Trial]) -> dict[str, float]:
    """Mean tokens a round of every problem: shown, not judged."""
    return {
        f"{trial.bundle.name}/{problem.name}": float((row * np.arange(len(row))).sum() / row.sum())
        for trial in trials
        if trial.calls
        for problem, row in zip(trial.bundle.problems, trial.seen.emitted, strict=True)
    }
