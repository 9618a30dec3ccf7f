"""One run: build both arms, observe them into a record, judge the record.

Observing is the only part that calls a target. Judging needs the record and the suite alone, so that a verdict can be
recomputed offline by anyone who holds them.
"""

from __future__ import annotations

import gc
import os
import platform
from collections.abc import Callable
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
from .errors import BrokenAnswer, TargetUnavailable, UsageError
from .faults import registry as faults
from .judge import judge_record
from .observations.blocks import IN_TURN
from .observations.context import Context
from .plan import plan
from .report.progress import Progress
from .targets import opening

LOST = "lost"  # what the note of an arm that was lost over an observation is called
LOGS = "logs"  # folder beside the record in which launched servers write
ALWAYS = (
    "prompts within the context, none over a few hundred tokens; no preemption or cancellation",
    "no prefix that several sessions share",
    "one sampling setting a batch; no stop strings; seeds are not compared",
    "whether the baseline is as fast as it could be",
)
SCOPE = {
    "reference": ("one machine, one process: this machine's CPU, these library versions", *ALWAYS),
    "transformers": (
        "one machine, one process: this machine, these library versions",
        *ALWAYS,
        "assisted answers in a batch: transformers decodes them one after another, the baseline's together",
    ),
    "server": (
        "these servers as they were configured, and this load only",
        *ALWAYS,
        "draft lengths, drafters and known laws: what is inside a server cannot be turned or exchanged",
        "single rounds: a server tells how many drafts it kept over a window, not where",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asked for."""

    suite: str
    baseline: str | None
    candidate: str | None
    config: Path | None
    model: Path | None
    dtype: str | None
    fault: str | None
    claim: float | None
    out: Path
    seed: int
    resume: bool


def run(options: Options, progress: Progress) -> dict[str, Any]:
    """Observes and judges; the record and the summary stand in `options.out` afterwards."""
    suite = loader.load(options.suite)
    progress.step("opening both arms")
    named = {key: getattr(options, key) for key in ("baseline", "candidate", "config", "model", "dtype", "fault")}
    with opening.opened(opening.Asked(**named, logs=options.out / LOGS), suite) as arms:
        context = Context(suite=suite, seed=options.seed, **arms)
        refuse_unknown(suite, context.candidate.kind)
        context.check_prompts()
        header = header_of(options, context)
        settle()
        begin = records.Journal.resume if options.resume else records.Journal.create
        with begin(options.out, header) as journal:
            observe(context, journal, progress)
    summary = judge_record(records.read(options.out))
    summaries.write(summary, options.out)
    return summary


def refuse_unknown(suite: Suite, kind: str) -> None:
    """Raises UsageError where the suite does not say what a target of this kind must pass."""
    if kind not in suite.required:
        known = ", ".join(suite.required)
        raise UsageError(f"the suite {suite.name} says what a {known} must pass, not a {kind}; use another suite")


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
        "launching": IN_TURN if context.in_turn else "together",
        "seed": options.seed,
        "fault": faults.find(options.fault).code if options.fault else None,
        "claim": options.claim,
        "eos": list(context.baseline.eos),
        "scope": [*scope(suite, context.candidate.kind), *context.candidate.unseen],
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "python": platform.python_version(),
        },
    }


def scope(suite: Suite, kind: str) -> list[str]:
    """What no check of this suite looks at in a target of this kind."""
    absent = [kind for kind in KINDS if not suite.of_kind(kind)]
    lines = [f"no {', '.join(absent)} canaries in this suite"] if absent else []
    dead = [] if suite.conversation and kind == "reference" else ["no cache that outlives an answer"]
    return [*SCOPE[kind], *lines, *dead]


def observe(context: Context, journal: records.Journal, progress: Progress) -> None:
    """Makes every observation that is not in the record yet: what is timed alone, the rest side by side."""
    planned = list(plan(context))
    progress.total(len(planned))
    made: dict[str, Any] = {}
    try:
        for key, compute, alone in planned:
            if alone or journal.has(key):
                progress.step(key)
                made[key] = once(journal, key, lambda compute=compute: told(lambda: compute(made)))  # type: ignore[misc]
        rest = {key: partial(told, partial(compute, made)) for key, compute, _ in planned if key not in made}
        workers.observe(rest, workers.at_once(), begin=progress.step, take=journal.add)
    finally:
        progress.close()


def once(journal: records.Journal, key: str, compute: Callable[[], Any]) -> Any:
    """The observation `key`. An arm that is lost over it is noted; lost over it again, that is the observation.

    Raises what the arm's loss raised, in either case: it takes a resumed run, with a new server, to go on.
    """
    try:
        return journal.step(key, compute)
    except TargetUnavailable as error:
        if error.lost:
            noted = f"{key}/{LOST}"
            again = journal.has(noted)
            words = {"arm": error.lost, "told": f"lost over this{' a second time' if again else ''} ({error})"}
            journal.add(key if again else noted, records.timed(lambda: {"broken": words} if again else words))
        raise


def told(compute: Callable[[], Any]) -> Any:
    """What was observed; where an arm answered what no engine may answer, that is."""
    try:
        return compute()
    except BrokenAnswer as error:
        return {"broken": {"arm": error.role, "told": str(error)}}


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
