"""Arms of the reference engine for the tests: on the embedded models, and on tables."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from draftgate.canaries import record, run
from draftgate.canaries.observations.context import Context
from draftgate.canaries.report.progress import Silent
from draftgate.canaries.targets import reference
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from draftgate.suites.suite import Suite


@cache
def embedded() -> Any:
    """The embedded target model."""
    return reference.load_target(reference.EMBEDDED / "target")


@cache
def _draft() -> ReferenceTarget:
    return reference.build(TargetSpec.parse("draft:k=4"), embedded(), Strategies())


def plain() -> ReferenceTarget:
    """The baseline."""
    return ReferenceTarget(name="plain", model=embedded())


def draft(strategies: Strategies | None = None, arm: type[ReferenceTarget] = ReferenceTarget) -> ReferenceTarget:
    """The embedded draft model drafts four tokens a round."""
    built = _draft()
    return arm(
        name="draft",
        model=(strategies or Strategies()).model(built.model),
        method="draft",
        draft=built.draft,
        options=built.options,
        strategies=strategies or Strategies(),
    )


def context(candidate: ReferenceTarget | None = None, suite: Suite | None = None, seed: int = 0) -> Context:
    """Both arms on the embedded models."""
    return Context(suite=suite or loader.load("smoke"), baseline=plain(), candidate=candidate or draft(), seed=seed)


class Run(NamedTuple):
    """A run that was made, and what was judged."""

    folder: Path
    record: record.Record
    summary: dict[str, Any]


def options(out: Path, **changes: Any) -> run.Options:
    """A smoke run of the embedded draft model."""
    given = {
        "suite": "smoke",
        "baseline": "plain",
        "candidate": "draft:k=4",
        "config": None,
        "model": None,
        "dtype": "float32",
        "fault": None,
        "claim": None,
        "out": out,
        "seed": 0,
        "resume": False,
    }
    return run.Options(**given | changes)


_FOLDERS = tempfile.TemporaryDirectory(prefix="runs-")


def smoke(fault: str | None = None, dtype: str = "float32") -> Run:
    """The smoke suite, run once for all tests that look at it."""
    return _smoke(fault, dtype)


@cache
def _smoke(fault: str | None, dtype: str) -> Run:
    folder = Path(_FOLDERS.name) / f"{fault or 'honest'}-{dtype}"
    summary = run.run(options(folder, fault=fault, dtype=dtype), Silent())
    return Run(folder, record.read(folder), summary)
