"""Small trials of samplers: a bundle of two problems, chance by seed, a look at the counts."""

from __future__ import annotations

import numpy as np
import torch

from draftgate.canaries.samplers.checks.base import Look, Rates
from draftgate.canaries.samplers.drafting import Paired, Settings
from draftgate.canaries.samplers.laws import Bundle, problem
from draftgate.canaries.samplers.trial import Trial
from tolerances import SURE

SMALL, WIDE = (3, 2, 3), (20, 2, 2)
RATES = Rates(false_alarm=SURE, miss=SURE, effect=0.05)


def bundle(*names, shape=SMALL, seed=0):
    rng = np.random.default_rng(seed)
    return Bundle("small", tuple(problem(name, shape, rng) for name in names or ("zipf", "sure")))


def settings(seed=0, batch=1024, **more):
    ours, theirs = (torch.Generator().manual_seed(2 * seed + i) for i in (0, 1))
    return Settings(ours=ours, theirs=theirs, batch=batch, seconds=more.pop("seconds", 20.0), **more)


def trial(sampler, *names, shape=SMALL, seed=0, batch=1024):
    return Trial(bundle(*names, shape=shape), sampler, settings(seed, batch))


def look(sampler, *names, shape=SMALL, calls=40, **more):
    """What tests may see after some calls."""
    made = trial(sampler, *names, shape=shape, **more)
    made.run(calls)
    drafted = made.drafting if isinstance(made.drafting, Paired) else None
    return Look(made.seen, np.random.default_rng(0), drafted)
