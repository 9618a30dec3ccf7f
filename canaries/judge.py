"""The verdict on a record, recomputed from nothing but the record and the suite that it names. Calls no target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..suites import loader
from ..suites.errors import SuiteError
from ..suites.suite import Cell, Suite, by_kind
from . import documents
from . import record as records
from . import summary as summaries
from .checks.base import Case, demanded_of, kept, kind_of
from .checks.blocks import as_asked, assembled
from .checks.registry import CHECKS, judge, ledger
from .contracts import Finding
from .errors import RecordBroken
from .targets.spec import MOST


def judge_record(record: records.Record) -> dict[str, Any]:
    """The summary of a record, from nothing but the record and the suite it names."""
    header = record.header
    suite = suite_of(header)
    if different := differing(header["baseline"], header["candidate"]):
        raise RecordBroken(f"the arms differ in more than speculation ({different}); judge two arms on one model")
    if not 0 <= header["candidate"].get("options", {}).get("k", 0) <= MOST:
        raise RecordBroken(f"the candidate's draft length is not from 0 to {MOST}; run it again with another --out")
    kind = kind_of(header)
    demanded = demanded_of(header)
    if kind != header["baseline"].get("kind", kind) or demanded not in suite.required:
        raise RecordBroken(
            f"the suite {suite.name} does not say what a {demanded!r} must pass; judge it by one that does"
        )
    shares = ledger(suite, demanded)
    required = {cell.name: suite.required[demanded].checks_for(cell) for cell in suite.cells}
    also = ("speed",) if kept(header) else ()  # not required, so that it may say that nothing is claimed
    observed = assembled(suite, header, record.observations)
    case = Case(suite=suite, cell=suite.cells[0], header=header, observations=observed, ledger=shares)
    findings: list[Finding] = []
    for cell in suite.cells:
        findings += [judge(CHECKS[name], replace(case, cell=cell)) for name in (*required[cell.name], *also)]
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
            settings={cell.name: setting(as_asked(suite, header, cell), suite) for cell in suite.cells},
        )
    )


def differing(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> str | None:
    """Where two arms' identities differ in what speculation must leave alone: their model, and its cache's type."""
    parts = ("model", "cache_type")
    found = (documents.difference(baseline.get(part), candidate.get(part), at=part) for part in parts)
    return next(filter(None, found), None)


def judged(folder: Path) -> dict[str, Any]:
    """The summary of a finished run, judged anew. Raises RecordBroken where the one beside the record is another.

    A machine that cannot judge all of it gives its own summary, in which what it cannot judge is INCONCLUSIVE.
    """
    stored, found = summaries.read(folder), records.read(folder)
    again = sound(judge_record, found)
    if _unable(again):
        return again  # what can be said here, where programs cannot be run in isolation
    if different := summaries.difference(stored, again):
        raise RecordBroken(f"{folder}: summary.json is not what its record gives ({different}); run --resume judges it")
    return stored


def _unable(summary: dict[str, Any]) -> bool:
    """Whether a check found that this machine lacks what it needs to judge."""
    findings = (finding for cell in summary["cells"] for finding in cell["findings"])
    return any(finding["figures"].get("isolation") == "none" for finding in findings)


def sound(judge: Callable[[records.Record], dict[str, Any]], record: records.Record) -> dict[str, Any]:
    """What `judge` says of a record from a file; RecordBroken where its parts do not fit together."""
    try:
        return judge(record)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        raise RecordBroken(f"the record does not hold together ({error!r}); run it again with another --out") from error


def setting(cell: Cell, suite: Suite) -> str:
    """A cell in words, with the kinds that it asks and how many of each."""
    filters = {
        "top-k": cell.top_k or None,
        "top-p": cell.top_p if cell.top_p < 1 else None,
        "min-p": cell.min_p or None,
    }
    sampling = [f"T = {cell.temperature:g}", *(f"{name} {value:g}" for name, value in filters.items() if value)]
    kinds = ", ".join(f"{count} {kind}" for kind, count in by_kind(suite.canaries_for(cell)).items())
    often = "once" if cell.repeats == 1 else f"{cell.repeats} times"
    asked = f"{cell.prompts} prompts ({kinds}) of at most {cell.tokens} tokens, {often} in each arm"
    return f"{', '.join(sampling)}; {cell.batch} at once; {asked}"


def suite_of(header: dict[str, Any]) -> Suite:
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
