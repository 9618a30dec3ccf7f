"""One run: build both arms, observe them into a record, judge the record.

Observing is the only part that calls a target. Judging needs the record and the suite alone, so that a verdict can be
recomputed offline by anyone who holds them.
"""

from __future__ import annotations

import gc
import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from ..suites import loader
from ..suites.suite import KINDS, Suite
from . import record as records
from . import summary as summaries
from . import workers
from .errors import UsageError
from .faults import registry as faults
from .judge import judge_record
from .observations.context import Context
from .plan import plan
from .report.progress import Progress
from .targets import reference
from .targets.spec import TargetSpec
from .targets.strategies import Strategies

SMALL_MODEL = 20_000_000  # parameters below which one thread decodes as fast as two (1 M: 4.8 ms a step, not 5.4)
SCOPE = (
    "one machine, one process: this machine's CPU, these library versions",
    "prompts within the context, none over a few hundred tokens; no preemption or cancellation",
    "no prefix that several sessions share",
    "one sampling setting a batch; no stop strings; seeds are not compared",
    "whether the baseline is as fast as it could be",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asked for."""

    suite: str
    baseline: str
    candidate: str
    model: Path | None
    dtype: str
    fault: str | None
    claim: float | None
    out: Path
    seed: int
    resume: bool


def run(options: Options, progress: Progress) -> dict[str, Any]:
    """Observes and judges; the record and the summary stand in `options.out` afterwards."""
    suite = loader.load(options.suite)
    progress.step("loading the models")
    context = Context(suite=suite, seed=options.seed, **arms(options))
    context.check_prompts()
    header = header_of(options, context)
    settle()
    begin = records.Journal.resume if options.resume else records.Journal.create
    with begin(options.out, header) as journal:
        observe(context, journal, progress)
    summary = judge_record(records.read(options.out))
    summaries.write(summary, options.out)
    return summary


def arms(options: Options) -> dict[str, Any]:
    """Baseline and candidate on one set of weights. Raises UsageError or an EngineError before anything is written."""
    baseline, candidate = TargetSpec.parse(options.baseline), TargetSpec.parse(options.candidate)
    if baseline.name != "plain":
        raise UsageError(f"the baseline is {baseline.name!r}; a candidate is held against plain decoding, use plain")
    plant = faults.find(options.fault) if options.fault else None
    planted = plant.apply(Strategies()) if plant else Strategies()
    known = reference.check(candidate)
    most = torch.get_num_threads()
    torch.set_num_threads(1)  # a pool of threads, once begun, is there when workers are forked
    model = reference.load_target(options.model or reference.EMBEDDED / "target", options.dtype)
    torch.set_num_threads(threads(model.parameters, most))
    return {
        "baseline": reference.build(baseline, model, planted if plant and plant.shared else Strategies()),
        "candidate": reference.build(known, model, planted),
    }


def threads(parameters: int, most: int) -> int:
    """Threads for one step: small models lose by sharing a step among cores, and lose tenfold when cores are busy."""
    return 1 if parameters < SMALL_MODEL else most


def settle() -> None:
    """What is loaded is not searched for garbage again: that takes 0.2 s, and falls on whichever arm is timed."""
    gc.collect()
    gc.freeze()


def header_of(options: Options, context: Context) -> dict[str, Any]:
    """All that decides what will be observed, and what it was observed on."""
    suite = context.suite
    return {
        "draftgate": __version__,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "digest": suite.digest,
            "folder": _folder(options.suite),
        },
        "baseline": context.baseline.identity(),
        "candidate": context.candidate.identity(),
        "seed": options.seed,
        "fault": faults.find(options.fault).code if options.fault else None,
        "claim": options.claim,
        "eos": list(context.baseline.eos),
        "scope": scope(suite),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "python": platform.python_version(),
        },
    }


def scope(suite: Suite) -> list[str]:
    """What no check of this suite looks at."""
    absent = [kind for kind in KINDS if not suite.of_kind(kind)]
    lines = [f"no {', '.join(absent)} canaries in this suite"] if absent else []
    return [*SCOPE, *lines, *([] if suite.conversation else ["no cache that outlives an answer"])]


def observe(context: Context, journal: records.Journal, progress: Progress) -> None:
    """Makes every observation that is not in the record yet: what is timed alone, the rest side by side."""
    planned = list(plan(context))
    progress.total(len(planned))
    made: dict[str, Any] = {}
    try:
        for key, compute, alone in planned:
            if alone or journal.has(key):
                progress.step(key)
                made[key] = journal.step(key, lambda compute=compute: compute(made))  # type: ignore[misc]
        rest = {key: partial(compute, made) for key, compute, _ in planned if key not in made}
        workers.observe(rest, workers.at_once(), begin=progress.step, take=journal.add)
    finally:
        progress.close()


def _processor() -> str:
    """The processor's name, where the system tells it; its architecture otherwise."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _folder(suite: str) -> str | None:
    """The folder of a suite that was named by path; None for one that ships."""
    path = Path(suite)
    return str(path.resolve()) if path.is_dir() and "suite.toml" in {f.name for f in path.iterdir()} else None
