"""One run: build both arms, observe them into a record, judge the record.

Observing is the only part that calls a target. Judging needs the record and the suite alone, so that a verdict can be
recomputed offline by anyone who holds them.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from .. import __version__
from ..suites import loader
from ..suites.errors import SuiteError
from ..suites.suite import Suite
from . import record as records
from . import summary as summaries
from .checks.base import Case, entry
from .checks.law import row_draws, table_draws
from .checks.registry import CHECKS, judge, ledger
from .contracts import Finding
from .errors import RecordBroken, UsageError
from .faults import registry as faults
from .observations import laws, pairs, replays, variants
from .observations.context import Context
from .report.progress import Progress
from .targets import reference
from .targets.spec import TargetSpec
from .targets.strategies import Strategies

SMALL_MODEL = 20_000_000  # parameters below which one thread decodes as fast as two (1 M: 4.8 ms a step, not 5.4)
SCOPE = (
    "one machine, one process: this machine's CPU, these library versions",
    "no tool calls, code or multi-turn canaries in this suite",
    "prompts within the context; no prefix cache, preemption or cancellation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asked for."""

    suite: str
    baseline: str
    candidate: str
    model: Path | None
    fault: str | None
    claim: float | None
    out: Path
    seed: int
    resume: bool


def run(options: Options, progress: Progress) -> dict[str, Any]:
    """Observes and judges; the record and the summary stand in `options.out` afterwards."""
    suite = loader.load(options.suite)
    context = Context(suite=suite, seed=options.seed, **arms(options))
    context.check_prompts()
    header = header_of(options, context)
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
        raise UsageError(f"the baseline is {baseline.name!r}; only plain decoding can be held against, use plain")
    strategies = Strategies()
    planted = faults.find(options.fault).apply(strategies) if options.fault else strategies
    known = reference.check(candidate)
    model = reference.load_target(options.model or reference.EMBEDDED / "target")
    torch.set_num_threads(threads(model.parameters))
    return {
        "baseline": reference.build(baseline, model, strategies),
        "candidate": reference.build(known, model, planted),
    }


def threads(parameters: int) -> int:
    """Threads for one step: small models lose by sharing a step among cores, and lose tenfold when cores are busy."""
    return 1 if parameters < SMALL_MODEL else torch.get_num_threads()


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
        "scope": list(SCOPE),
        "machine": {
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "python": platform.python_version(),
        },
    }


def observe(context: Context, journal: records.Journal, progress: Progress) -> None:
    """Makes every observation that is not in the record yet."""
    planned = list(_plan(context))
    progress.total(len(planned))
    made: dict[str, Any] = {}
    try:
        for key, compute in planned:
            progress.step(key)
            made[key] = journal.step(key, lambda compute=compute: compute(made))  # type: ignore[misc]
    finally:
        progress.close()


Compute = Callable[[dict[str, Any]], Any]


def _plan(context: Context) -> Iterator[tuple[str, Compute]]:
    """Keys and how to observe them, in order; each may read what was observed before it."""
    suite, candidate, shares = context.suite, context.candidate, ledger(context.suite, context.candidate.kind)
    for cell in suite.cells:
        yield f"{cell.name}/pairs", lambda _, c=cell: pairs.observe(context, c)  # type: ignore[misc]
        yield (
            f"{cell.name}/replays",
            lambda made, c=cell: replays.observe(context, c, made[f"{c.name}/pairs"]),  # type: ignore[misc]
        )
    if candidate.draft_length:
        yield "knobs", lambda _: variants.observe_knobs(context, candidate.name)
        yield "synthetic", lambda _: variants.observe_synthetic(context, candidate.draft_length)
    sampled = [cell for cell in suite.cells if not cell.greedy]
    if not sampled or not candidate.draft_length:
        return
    length = suite.law.draft_length
    arm = candidate.variant(candidate.name, k=length)
    yield "recorded", lambda _: laws.record_rows(context, length + 2)
    for cell in sampled:
        share = shares.share(entry(cell, "law", "table"))
        yield (
            f"{cell.name}/table",
            lambda _, c=cell, s=share: laws.observe_table(context, c, arm, table_draws(context, c, s)),  # type: ignore[misc]
        )
        yield (
            f"{cell.name}/rows",
            lambda made, c=cell, s=share: laws.observe_rows(  # type: ignore[misc]
                context, c, arm, made["recorded"], row_draws(context, c, made["recorded"], s)
            ),
        )


def judge_record(record: records.Record) -> dict[str, Any]:
    """The summary of a record, from nothing but the record and the suite it names."""
    header = record.header
    suite = _suite_of(header)
    if different := records.difference(header["baseline"].get("model"), header["candidate"].get("model"), at="model"):
        raise RecordBroken(f"the arms differ in more than speculation ({different}); judge two arms on one model")
    shares = ledger(suite, "reference")
    required = {cell.name: suite.required["reference"].checks_for(cell) for cell in suite.cells}
    findings: list[Finding] = []
    for cell in suite.cells:
        case = Case(suite=suite, cell=cell, header=header, observations=record.observations, ledger=shares)
        findings += [judge(CHECKS[name], case) for name in required[cell.name]]
    return summaries.summarise(
        summaries.Case(
            header=header,
            cells=[cell.name for cell in suite.cells],
            findings=findings,
            required=required,
            ledger=[(row.name, row.share) for row in shares.rows()],
            guarantee=header["candidate"]["guarantee"],
            claim=header["claim"],
            seconds=record.seconds,
            record_sha256=record.sha256,
        )
    )


def _suite_of(header: dict[str, Any]) -> Suite:
    """The suite that a record was made with. Raises RecordBroken where it is not here, or not the same."""
    named = header["suite"]
    try:
        suite = loader.load(named["folder"] or f"{named['name']}/{named['version']}")
    except SuiteError as error:
        raise RecordBroken(f"the record's suite cannot be loaded: {error}") from error
    if suite.digest != named["digest"]:
        raise RecordBroken(
            f"the record was made with {named['name']}/{named['version']} of digest {named['digest'][:12]}, here it is "
            f"{suite.digest[:12]}; judge it with the draftgate that made it"
        )
    return suite


def _folder(suite: str) -> str | None:
    """The folder of a suite that was named by path; None for one that ships."""
    path = Path(suite)
    return str(path.resolve()) if path.is_dir() and "suite.toml" in {f.name for f in path.iterdir()} else None
