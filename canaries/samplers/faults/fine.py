"""How fast, and how fine: rounds a second, and a total variation of 0.002 on 32 outcomes, found or not.

`python -m draftgate.canaries.samplers.faults.fine [--effect 0.002]` tries the honest token rule and one that swaps so
much mass between the two likeliest first tokens, on the laws of the suite's middle bundle (K = 3, V = 32), with the
draws that the first token's 32 outcomes need at a false alarm and a miss of one in a million each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from ....stats.evidence import Evidence
from ....suites import samplers as suites
from ..checks.base import Look, Rates
from ..checks.law import LawTest
from ..drafting import Settings
from ..interface import Sampler
from ..laws import Bundle, problem
from ..trial import Trial
from .innocent import token

EFFECT = 0.002
"""Total variation of the first token's law that is looked for."""


class Tried(NamedTuple):
    """What came out: the evidence on the first token, the rounds drawn, the seconds of this process they took."""

    evidence: Evidence
    rounds: int
    seconds: float


def swapped(effect: float) -> Sampler:
    """The token rule, the target's first law with `effect` moved from its likeliest token to the next."""

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        changed = p.clone()
        best = p[:, 0].topk(2, dim=1).indices
        changed[:, 0] = p[:, 0].scatter_add(1, best, torch.tensor([-effect, effect], dtype=p.dtype).expand(len(p), 2))
        return token(changed, q, x, generator)

    return sampler


def tried(sampler: Sampler, effect: float, batch: int) -> Tried:
    """The planned draws on one problem of the middle bundle, judged on its first token."""
    suite = suites.load()
    shape = next(spec for spec in suite.bundles if spec.name == "middle")
    zipf = problem("zipf", (shape.vocabulary, shape.draft_length, shape.memory), np.random.default_rng(0))
    test = LawTest("marginal", "middle", "middle/zipf/1", 0, zipf.marginal(0), 0)
    rates = Rates(suite.design.false_alarm, suite.design.miss, effect)
    ours, theirs = (torch.Generator().manual_seed(seed) for seed in (1, 2))
    settings = Settings(ours=ours, theirs=theirs, batch=batch, seconds=suite.calls.seconds)
    trial = Trial(Bundle("middle", (zipf,)), sampler, settings)
    begun = time.process_time()
    trial.run(-(-test.rounds(rates) // trial.rows))
    seconds = time.process_time() - begun
    return Tried(test.evidence(Look(trial.seen, np.random.default_rng(0)), rates), trial.calls * trial.rows, seconds)


def measured(effect: float) -> tuple[list[str], bool]:
    """A line for the honest sampler and one for the other; whether that passed and this was found."""
    suite, lines, good = suites.load(), [], True
    for name, sampler, wrong in (("honest", token, False), (f"off by {effect}", swapped(effect), True)):
        found = tried(sampler, effect, suite.calls.batch)
        good &= wrong == (found.evidence.p_value <= suite.design.false_alarm)
        lines.append(
            f"{name}: p = {found.evidence.p_value:.1e} after {found.rounds:,} rounds in {found.seconds:.1f} s of one "
            f"core, {found.rounds / found.seconds / 1e6:.2f} M rounds/s (K = 3, V = 32, first token, 32 outcomes)"
        )
    return lines, good


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where the honest sampler passes and the other is found."""
    parser = argparse.ArgumentParser(description="Rounds a second, and the smallest effect.")
    parser.add_argument("--effect", type=float, default=EFFECT, metavar="TV", help=f"default: {EFFECT}")
    torch.set_num_threads(1)
    lines, good = measured(parser.parse_args(arguments).effect)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
