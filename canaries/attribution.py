"""Which of two changes departs from plain decoding: speculation, the type of cache, or only both together.

Four arms answer the same greedy prompts: plain and speculating, each on a cache of floats and on the candidate's own.
Speculation is held against plain decoding on the same cache, by the checks that a run makes; what the cache alone costs
is counted between the two plain arms. Attributes and decides nothing: `draftgate run` gives the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..suites import loader
from ..suites.suite import Cell, Suite
from .checks.base import Case
from .checks.registry import CHECKS, judge, ledger
from .contracts import Finding, Status
from .errors import UsageError
from .observations import pairs, replays
from .observations.answers import by_arm
from .observations.context import Context
from .observations.pairs import BASELINE, CANDIDATE
from .report.progress import Progress
from .targets import opening
from .targets.caches import FLOAT
from .targets.reference import ReferenceTarget
from .targets.spec import TargetSpec

RIGHT = ("exact_text", "identifiers", "json_valid", "tools_valid", "code_runs", "multi_turn")
CAUSES = {  # by whether speculation departs on floats, and on the other type
    (False, False): ("none", "Speculation departs on neither cache."),
    (False, True): ("interaction", "Speculation departs on {kind} and not on floats: the two do not go together."),
    (True, True): ("speculation", "Speculation departs on floats too: {kind} is not its cause."),
    (True, False): ("speculation", "Speculation departs on floats, and was not seen to on {kind}."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asked for."""

    suite: str
    candidate: str
    model: Path | None
    dtype: str | None
    fault: str | None
    seed: int


def attribute(options: Options, progress: Progress) -> dict[str, Any]:
    """The four arms side by side as one plain document. Raises UsageError for a candidate on a cache of floats."""
    suite = loader.load(options.suite)
    progress.step("opening the arms")
    named = {key: getattr(options, key) for key in ("candidate", "model", "dtype", "fault", "seed")}
    arms = opening.in_process(opening.Asked(baseline=None, config=None, **named))
    if not isinstance(arms[CANDIDATE], ReferenceTarget):
        raise UsageError(f"candidate {options.candidate!r} has no cache to exchange; name one of the reference engine")
    if arms[CANDIDATE].cache_type == FLOAT:
        name = TargetSpec.parse(options.candidate).name
        raise UsageError(f"candidate {options.candidate!r} is on a cache of floats; name one as {name}:cache=int4")
    return _attributed(Context(suite=suite, seed=options.seed, **arms), options.fault, progress)


def _attributed(context: Context, fault: str | None, progress: Progress) -> dict[str, Any]:
    cell = next((cell for cell in context.suite.cells if cell.greedy), None)
    if cell is None:
        raise UsageError(f"suite {context.suite.name} has no greedy cell, and laws are not compared here; name another")
    kind = context.candidate.cache_type  # type: ignore[attr-defined]
    once = replace(cell, repeats=1, again=0)
    cases = {}
    for name in (FLOAT, kind):
        progress.step(f"both arms on {name}")
        cases[name] = _observed(replace(context, **_on(context, name)), once)
    progress.close()
    return document(cases, kind) | {"candidate": context.candidate.name, "fault": fault, "seed": context.seed}


def _on(context: Context, cache: str) -> dict[str, Any]:
    """Both arms on this type of cache."""
    arms = {BASELINE: context.baseline, CANDIDATE: context.candidate}
    return {role: arm.on_cache(cache) for role, arm in arms.items()}  # type: ignore[attr-defined]


def _observed(context: Context, cell: Cell) -> Case:
    """What a run would be judged by in this cell."""
    identities = {role: getattr(context, role).identity() for role in (BASELINE, CANDIDATE)}
    header = identities | {"seed": context.seed, "eos": list(context.baseline.eos)}
    seen = {f"{cell.name}/pairs": pairs.observe(context, cell)}
    seen[f"{cell.name}/replays"] = replays.observe(context, cell, seen[f"{cell.name}/pairs"])
    suite, shares = context.suite, ledger(context.suite, context.demanded)
    return Case(suite=suite, cell=cell, header=header, observations=seen, ledger=shares)


def document(cases: Mapping[str, Case], kind: str) -> dict[str, Any]:
    """What the checks say of both cases, and of plain decoding between them."""
    sides = {name: _side(case) for name, case in cases.items()}
    cause, told = CAUSES[sides[FLOAT]["departs"], sides[kind]["departs"]]
    changed, asked = _changed(cases[FLOAT], cases[kind])
    first = cases[FLOAT]
    return {
        "suite": f"{first.suite.name} {first.suite.version}",
        "cell": first.cell.name,
        "types": list(cases),
        "sides": sides,
        "cause": cause,
        "told": told.format(kind=kind),
        "plain_changed": changed,
        "asked": asked,
    }


def _side(case: Case) -> dict[str, Any]:
    """Speculation against plain decoding on one type of cache."""
    parity = judge(CHECKS["exact_tokens"], case)
    made = {name: judge(CHECKS[name], case) for name in RIGHT if _asks(case.suite, case.cell, name)}
    return {
        "departs": parity.status is Status.FAIL or any(one.status is Status.FAIL for one in made.values()),
        "parity": parity.summary,
        "right": {name: _right(finding) for name, finding in made.items()},
    }


def _asks(suite: Suite, cell: Cell, check: str) -> bool:
    return check in suite.required["reference"].checks_for(cell)


def _right(finding: Finding) -> dict[str, Any]:
    """How many each arm has right of those asked; the candidate's are those that plain decoding has right too."""
    keys = {"asked": "asked", "plain": "baseline_right", "candidate": "candidate_right"}
    return {name: finding.figures[key] for name, key in keys.items()} | {"status": finding.status}


def _changed(one: Case, other: Case) -> tuple[int, int]:
    """Plain answers that the type of cache alone changes, of how many."""
    first, second = (
        {a.canary: a.generation.tokens for a in by_arm(case.observed("pairs"), BASELINE)} for case in (one, other)
    )
    return sum(tokens != second[name] for name, tokens in first.items()), len(first)
