"""One run: build both arms, observe them into a record, judge the record.

Observing is the only part that calls a target. Judging needs the record and the suite alone, so that a verdict can be
recomputed offline by anyone who holds them.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from .. import __version__
from ..suites import loader
from ..suites.suite import KINDS, Suite
from . import machine, workers
from . import record as records
from . import summary as summaries
from .checks.ranges import LOST, misfit, unreadable
from .contracts import KEPT
from .errors import BrokenAnswer, RecordBroken, TargetUnavailable, UsageError
from .faults import registry as faults
from .judge import judge_record
from .observations.blocks import IN_TURN
from .observations.context import Context
from .plan import plan
from .report.progress import Progress
from .targets import opening

LOGS = "logs"  # folder beside the record in which launched servers write
UNLOADED = (  # of what a suite with a table [serving] looks at
    "prompts within the context, none over a few hundred tokens; no preemption or cancellation",
    "no prefix that several sessions share",
    "one sampling setting a batch; no stop strings; seeds are not compared",
)
LOADED = "prompts over a thousand tokens; seeds are not compared; speed under load"
ALWAYS = (
    *UNLOADED,
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
BESIDE_KEPT = (
    "where each sampled token lies in its law, and outside top-k, top-p or min-p: a kept baseline was not asked of it",
    "greedy answers behind a near tie at which they leave the kept baseline's",
    "chat end points, tool and grammar fields, and the logprobs told: a kept baseline was not asked by chat",
    "noise at verify widths of the candidate's own, where the suite does not name them",
    "whether the baseline is still what it was when it was recorded",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(opening.Asked):
    """What the command line asked for, of the arms and beside them."""

    suite: str
    claim: float | None
    out: Path
    resume: bool


def run(options: Options, progress: Progress) -> dict[str, Any]:
    """Observes and judges; the record and the summary stand in `options.out` afterwards.

    An arm that is lost is launched anew as often as its configuration allows, and the run resumed, as if by hand.
    """
    suite, again = loader.load(options.suite), Counter[str | None]()
    while True:
        try:
            observe_both(options, suite, progress)
            break
        except TargetUnavailable as error:
            begun = (options.out / records.NAME).exists()
            if not (error.lost and begun and again[error.lost] < error.relaunches):
                raise
            again[error.lost] += 1
            progress.step(f"launching anew, {again[error.lost]} of {error.relaunches} times: {error}")
            options = replace(options, resume=True)
    record = records.read(options.out)
    with readable(record.observations):
        summary = judge_record(record)
    summaries.write(summary, options.out)
    return summary


def observe_both(options: Options, suite: Suite, progress: Progress) -> None:
    """All that the suite asks for stands in the record, made on arms that were opened for it."""
    progress.step("opening both arms")
    with opening.opened(options, suite, options.out / LOGS) as arms:
        context = Context(suite=suite, seed=options.seed, **arms)
        refuse_unknown(suite, context.demanded)
        refuse_claim(options.claim, context)
        context.check_prompts()
        header = header_of(options, context)
        settle()
        begin = records.Journal.resume if options.resume else records.Journal.create
        with begin(options.out, header) as journal:
            observe(context, journal, progress)


def refuse_unknown(suite: Suite, kind: str) -> None:
    """Raises UsageError where the suite does not say what a target of this kind must pass."""
    if kind not in suite.required:
        known = ", ".join(suite.required)
        raise UsageError(f"the suite {suite.name} says what a {known} must pass, not a {kind}; use another suite")


def refuse_claim(claim: float | None, context: Context) -> None:
    """Raises UsageError where a speed is claimed beside a baseline that was kept."""
    if claim is not None and KEPT in context.baseline.capabilities:
        raise UsageError(f"--claim {claim:g} rests on pairs, and a kept baseline makes none; leave it out")


def settle() -> None:
    """What is loaded is not searched for garbage again: that takes 0.2 s, and falls on whichever arm is timed."""
    gc.collect()
    gc.freeze()


def header_of(options: Options, context: Context) -> dict[str, Any]:
    """All that decides what will be observed, and what it was observed on."""
    suite = context.suite
    kept = BESIDE_KEPT if KEPT in context.baseline.capabilities else ()
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
        "scope": [*kept, *scope(suite, context.candidate.kind), *context.candidate.unseen],
        "machine": machine.described(),
    }


def scope(suite: Suite, kind: str) -> list[str]:
    """What no check of this suite looks at in a target of this kind."""
    absent = [kind for kind in KINDS if not suite.of_kind(kind)]
    lines = [f"no {', '.join(absent)} canaries in this suite"] if absent else []
    dead = [] if suite.conversation and kind == "reference" else ["no cache that outlives an answer"]
    loaded = [LOADED] if suite.serving and kind == "reference" else []
    told = [line for line in SCOPE[kind] if not loaded or line not in UNLOADED]
    return [*told, *loaded, *lines, *dead]


def observe(context: Context, journal: records.Journal, progress: Progress) -> None:
    """Makes every observation that is not in the record yet: what is timed alone, the rest side by side."""
    planned = [step for step in plan(context) if not (step.beside and journal.finished_without(step.key))]
    progress.total(len(planned))
    made: dict[str, Any] = {}
    try:
        with readable(journal.observations, resumed=bool(journal.observations)):
            for key, compute, alone, _ in planned:
                if alone or journal.has(key):
                    progress.step(key)
                    made[key] = once(journal, key, lambda compute=compute: told(lambda: compute(made)))  # type: ignore[misc]
            rest = {key: partial(told, partial(compute, made)) for key, compute, *_ in planned if key not in made}
            workers.observe(rest, workers.at_once(), begin=progress.step, take=journal.add)
    finally:
        progress.close()


@contextmanager
def readable(observations: Mapping[str, Any], *, resumed: bool = False) -> Iterator[None]:
    """What was observed before can be read. Raises RecordBroken, naming the first place that is of another shape.

    At once where it says that something was broken off or lost. Else only where it was stumbled over: what no
    observation is made from is for the checks to call no evidence. Of the right shape, `resumed`, but of lengths that
    nothing can be made from: told so too.
    """
    if wrong := unreadable(observations):
        raise _unreadable(wrong)
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if wrong := misfit(observations):
            raise _unreadable(wrong) from error
        if resumed:
            raise _unreadable(f"nothing can be made from it: {error!r}") from error
        raise


def _unreadable(wrong: str) -> RecordBroken:
    return RecordBroken(f"the record holds what cannot have been observed ({wrong}); run again with another --out")


def once(journal: records.Journal, key: str, compute: Callable[[], Any]) -> Any:
    """The observation `key`. An arm that is lost over it is noted; lost over it again, that is the observation.

    Raises what the arm's loss raised, in either case: it takes a resumed run, with a new server, to go on.
    """
    try:
        return journal.step(key, compute)
    except TargetUnavailable as error:
        if error.lost:
            seen, places = journal.observations, (f"{key}/{LOST}", f"{key}/{LOST}/{error.lost}")
            again = error.lost in [seen[place]["arm"] for place in places if place in seen]
            words = {"arm": error.lost, "told": f"lost over this{' a second time' if again else ''} ({error})"}
            name = key if again else next(place for place in places if place not in seen)
            journal.add(name, records.timed(lambda: {"broken": words} if again else words))
        raise


def told(compute: Callable[[], Any]) -> Any:
    """What was observed; where an arm answered what no engine may answer, that is."""
    try:
        return compute()
    except BrokenAnswer as error:
        return {"broken": {"arm": error.role, "told": str(error)}}


def _folder(suite: str) -> str | None:
    """The folder of a suite that was named by path; None for one that ships."""
    path = Path(suite)
    return str(path.resolve()) if path.is_dir() and "suite.toml" in {f.name for f in path.iterdir()} else None
