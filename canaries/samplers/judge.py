"""The verdict on a sampler: PASS once every designed draw was made and every test passed, HOLD once one failed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from ... import __version__
from ...suites import samplers as suites
from .. import gate
from ..contracts import Finding, Reason, Status
from ..errors import ContractBroken, UsageError
from . import plan as plans
from .checks import base, wager
from .interface import Pair, Sampler
from .trial import Settings, Trial

CONTRACT = "contract"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked about one sampler. `effect` None is the suite's; `budget` in seconds, None for no limit."""

    name: str
    seed: int = 0
    effect: float | None = None
    budget: float | None = None
    limit: float | None = None
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


class Progress(Protocol):
    """Told of each step as it begins."""

    def total(self, n: int) -> None:
        """`n` steps are ahead."""

    def step(self, name: str) -> None:
        """The step `name` begins."""

    def close(self) -> None:
        """Nothing more will be shown."""


Say = Callable[[str], None]


def judge(sampler: Sampler | Pair, options: Options, progress: Progress, say: Say) -> dict[str, Any]:
    """The summary of one run, as plain values. `say` is told, before any draw that counts, what will be done.

    Raises UsageError for a budget that buys nothing, SamplerFailed where the sampler raises or hangs.
    """
    started = time.monotonic()
    run = Run(sampler, options)
    try:
        plan = run.planned()
    except ContractBroken as error:
        return run.summary([_broken(error)], started)
    say(run.promise(plan))
    try:
        findings = run.draw(plan, progress)
    except ContractBroken as error:
        findings = [_broken(error)]
    finally:
        progress.close()
    return run.summary(findings, started)


class Run:
    """One sampler, tried on the laws of one seed."""

    def __init__(self, sampler: Sampler | Pair, options: Options) -> None:
        self.sampler, self.options = sampler, options
        self.suite = suites.load()
        self.bundles = plans.bundles_of(self.suite, options.seed)
        self.plan: plans.Plan | None = None
        self.seconds = 0.0
        self.stopped_early = False

    @property
    def per_sequence(self) -> bool:
        """Whether the sampler says that it works row by row."""
        return bool(getattr(self.sampler, "per_sequence", False))

    def settings(self, number: int, vocabulary: int) -> Settings:
        """How the sampler is called on bundle `number`: chance of its own for each."""
        calls, device = self.suite.calls, torch.device(self.options.device)
        batch = calls.per_sequence_batch if self.per_sequence else calls.batch
        seeds = np.random.SeedSequence([self.options.seed, number]).generate_state(2, np.uint64) >> np.uint64(1)
        return Settings(
            ours=torch.Generator().manual_seed(int(seeds[0])),
            theirs=torch.Generator(device).manual_seed(int(seeds[1])),
            batch=min(batch, calls.large_batch) if vocabulary > LARGE else batch,
            seconds=self.options.limit or calls.seconds,
            dtype=self.options.dtype,
            device=device,
        )

    def planned(self) -> plans.Plan:
        """The plan, after every bundle was tried once to see how long a call takes."""
        took = {}
        for number, bundle in enumerate(self.bundles):
            trial = Trial(bundle, self.sampler, self.settings(number + len(self.bundles), bundle.vocabulary))
            trial.run(1)
            begun = time.perf_counter()
            trial.run(2)
            took[bundle.name] = (time.perf_counter() - begun) / (2 * trial.rows / len(bundle.problems))
        design = self.suite.design
        effect = self.options.effect or (design.effect_per_sequence if self.per_sequence else design.effect)
        self.plan = plans.plan(self.suite, self.bundles, effect)
        self.seconds = sum(self.plan.rounds[name] * each for name, each in took.items())
        if self.options.budget is not None and self.seconds > self.options.budget:
            self._afford(effect, self.options.budget)
        return self.plan

    def _afford(self, effect: float, budget: float) -> None:
        """The plan for the smallest effect that `budget` seconds buy: draws go with its inverse square."""
        bought, coarsest = effect * (self.seconds / budget) ** 0.5, self.suite.design.coarsest
        if bought > coarsest:
            least = self.seconds * (effect / coarsest) ** 2
            raise UsageError(
                f"{budget:g} s buy an effect of {bought:.2g} only, and above {coarsest} nothing is judged; "
                f"give --budget {least * 1.1:.0f} or more"
            )
        self.plan = plans.plan(self.suite, self.bundles, bought)
        self.seconds = budget

    def promise(self, plan: plans.Plan) -> str:
        """The first line of every run."""
        design = self.suite.design
        return (
            f"{self.options.name}: finds a total variation of {plan.effect:.2g} with {plan.total_rounds:,} rounds in "
            f"about {self.seconds:.0f} s; false alarm {design.false_alarm:g}, miss {design.miss:g}"
        )

    def draw(self, plan: plans.Plan, progress: Progress) -> list[Finding]:
        """All findings; only the failed one where a wager was won early."""
        trials = [Trial(b, self.sampler, self.settings(i, b.vocabulary)) for i, b in enumerate(plan.bundles)]
        wagers = [wager.Wager(b, self.suite.wager.weights) for b in plan.bundles]
        chance = np.random.default_rng([self.options.seed, len(trials)])
        calls = [-(-plan.rounds[t.bundle.name] // t.rounds_a_call) for t in trials]
        progress.total(sum(calls))
        upto = self.suite.wager.first
        while any(trial.calls < most for trial, most in zip(trials, calls, strict=True)):
            for trial, bet, most in zip(trials, wagers, calls, strict=True):
                self._go_on(trial, min(upto, most), progress)
                bet.look(base.Look(trial.seen, chance))
                if early := bet.finding(plan.ledger.share(f"{wager.CHECK} {trial.bundle.name}")):
                    self.stopped_early = True
                    return [early]
            upto *= 2
        return [
            base.judge(test, base.Look(trial.seen, chance), plan.rates(test))
            for trial in trials
            for test in plan.tests[trial.bundle.name]
        ]

    def _go_on(self, trial: Trial, upto: int, progress: Progress) -> None:
        while trial.calls < upto:
            progress.step(trial.bundle.name)
            trial.run(1)

    def summary(self, findings: list[Finding], started: float) -> dict[str, Any]:
        """The run as one document."""
        tests = [test for several in (self.plan.tests if self.plan else {}).values() for test in several]
        required: dict[str, set[str]] = {finding.cell: {finding.check} for finding in findings}
        for test in [] if self.stopped_early else tests:
            required.setdefault(test.cell, set()).add(test.check)
        cells = list(required)
        verdict = gate.run_verdict([gate.cell_verdict(cell, findings, required[cell]) for cell in cells])
        return {
            "draftgate": __version__,
            "sampler": self.options.name,
            "verdict": str(verdict.verdict),
            "reasons": verdict.reasons,
            "suite": {"name": self.suite.name, "version": self.suite.version, "digest": self.suite.digest},
            "seed": self.options.seed,
            "effect": self.plan.effect if self.plan else None,
            "rounds": self.plan.total_rounds if self.plan else 0,
            "expected_seconds": self.seconds,
            "seconds": time.monotonic() - started,
            "stopped_early": self.stopped_early,
            "findings": findings,
            "ledger": self.plan.ledger.rows() if self.plan else [],
            "false_alarm": self.suite.design.false_alarm,
            "miss": self.suite.design.miss,
        }


def _broken(error: ContractBroken) -> Finding:
    return Finding(
        check=CONTRACT, cell=CONTRACT, status=Status.FAIL, reason=Reason.CORRECTNESS, summary=str(error), seen=""
    )


LARGE = 1000
"""Tokens of a vocabulary above which laws are large enough to be handed out in smaller batches."""
