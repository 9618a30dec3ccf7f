"""What was judged of a run, as one document: the content of `summary.json`, from which every report is drawn.

Decides nothing: the verdict is `gate.judge`'s. The same record gives the same summary, apart from the seconds.
"""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import __version__
from . import documents, record
from .contracts import Status
from .errors import CannotJudge, RecordBroken, UsageError
from .gate import CellVerdict, judge
from .reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from .contracts import Finding

NAME = "summary.json"
SCHEMA = 1
OF_THE_JUDGE = frozenset({"seconds", "isolation"})  # keys that tell of the machine that judged, not of the run
HEADLINE = ("ratio", "low", "high", "aa_low", "aa_high", "confidence", "pairs", "launches", "predicted")
IDENTITY = ("suite", "baseline", "candidate", "seed", "machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that a verdict rests on.

    `required` says by cell which checks must pass there. `ledger` lists (test, its share of the false-alarm budget).
    `settings` puts each cell in words. `header` is the record's; its `scope` lines say what this suite never looks at.
    """

    header: Mapping[str, Any]
    cells: Sequence[str]
    findings: Sequence[Finding]
    required: Mapping[str, Collection[str]]
    ledger: Sequence[tuple[str, float]]
    guarantee: str
    claim: float | None
    seconds: float
    record_sha256: str
    settings: Mapping[str, str] = field(default_factory=dict)


def summarise(case: Case) -> dict[str, Any]:
    """The summary of a case as plain JSON that fits `summary.schema.json`."""
    run = judge(case.cells, case.findings, case.required, guarantee=case.guarantee, claim=case.claim)
    document = {
        "schema": SCHEMA,
        "draftgate": case.header.get("draftgate", __version__),
        "verdict": run.verdict,
        "culprit": REASONS[run.reasons[0].reason].culprit if run.reasons else None,
        "guarantee": case.guarantee,
        "claim": case.claim,
        "fault": case.header.get("fault"),
        "reasons": run.reasons,
        "headline": _headline(case),
        "acceptance": _acceptance(case),
        "cells": [_cell(cell, case) for cell in run.cells],
        "not_looked_at": _not_looked_at(case),
        "seen": _seen(case),
        "ledger": [{"test": test, "share": share} for test, share in case.ledger],
        "false_alarm": math.fsum(share for _, share in case.ledger),
        "identity": {key: case.header[key] for key in IDENTITY if key in case.header},
        "record_sha256": case.record_sha256,
        "seconds": case.seconds,
    }
    return _checked(documents.plain(document), "the summary")


def write(summary: Mapping[str, Any], folder: Path) -> Path:
    """`summary.json` stands whole in the folder."""
    _checked(documents.plain(summary), "the summary")
    documents.write(folder / NAME, documents.encode(summary, indent=1))
    return folder / NAME


def read(folder: Path) -> dict[str, Any]:
    """The summary of a run folder, that of the record beside it. Raises UsageError, CannotJudge or RecordBroken."""
    path = folder / NAME
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; name the folder of a run")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CannotJudge(f"{path} does not exist; name the folder of a run, or finish it with --resume") from None
    except OSError as error:
        raise RecordBroken(f"{path} cannot be read ({error.strerror}); name the folder of a run") from error
    try:
        summary = _checked(documents.decode(data), str(path))
    except ValueError as error:
        raise RecordBroken(f"{path} is not JSON ({error}); judge the record again with --resume") from error
    if (found := record.digest(record.load(folder))) != (told := summary["record_sha256"]):
        raise RecordBroken(
            f"{folder}: the record was changed after it was judged (sha256 {found[:12]}, summary says {told[:12]}); "
            "judge it again with --resume"
        )
    return summary


def difference(stored: Mapping[str, Any], again: Mapping[str, Any]) -> str | None:
    """Where two summaries of one record differ in more than the judge; None where they do not.

    Names both Pythons where they differ: programs that a model wrote are run again when they are judged.
    """
    found = documents.difference(stored, again, ignore=OF_THE_JUDGE)
    there, here = stored["identity"].get("machine", {}).get("python"), platform.python_version()
    if found and there and there != here:
        found += (
            f"; judged under Python {here}, recorded under {there}: programs may end otherwise, so judge it under that"
        )
    return found


def _checked(document: Any, name: str) -> dict[str, Any]:
    if isinstance(document, dict) and isinstance(schema := document.get("schema"), int) and schema > SCHEMA:
        raise RecordBroken(f"{name} has schema {schema}, this version reads {SCHEMA}; upgrade draftgate")
    if wrong := documents.complaint(document, "summary"):
        raise RecordBroken(f"{name} does not fit the schema ({wrong}); judge the record again with --resume")
    return dict(document)


def _headline(case: Case) -> dict[str, Any] | None:
    speed = _first(case, "speed")
    return {"cell": speed.cell} | {key: speed.figures.get(key) for key in HEADLINE} if speed else None


def _acceptance(case: Case) -> dict[str, Any] | None:
    acceptance = _first(case, "acceptance")
    return {"cell": acceptance.cell} | dict(acceptance.figures) if acceptance else None


def _first(case: Case, check: str) -> Finding | None:
    """The check's first finding that has figures, in the order of the cells."""
    found = [finding for finding in case.findings if finding.check == check and finding.figures]
    return next((finding for cell in case.cells for finding in found if finding.cell == cell), None)


def _cell(judged: CellVerdict, case: Case) -> dict[str, Any]:
    return {
        "name": judged.cell,
        "setting": case.settings.get(judged.cell, ""),
        "verdict": judged.verdict,
        "required": sorted(case.required.get(judged.cell, ())),
        "reasons": judged.reasons,
        "findings": [finding for finding in case.findings if finding.cell == judged.cell],
    }


def _not_looked_at(case: Case) -> list[dict[str, Any]]:
    """Checks that did not apply, each with the cells and the reason; then what the suite never looks at."""
    absent = [finding for finding in case.findings if finding.status == Status.NOT_APPLICABLE]
    grouped = _by_text(absent, lambda finding: finding.summary)
    rows = [{"what": check, "cells": cells, "why": why} for (check, why), cells in grouped.items()]
    return rows + [{"what": line, "cells": [], "why": ""} for line in case.header.get("scope", ())]


def _seen(case: Case) -> list[dict[str, Any]]:
    """What the checks that passed would have seen, each with its cells."""
    passed = [finding for finding in case.findings if finding.status == Status.PASS and finding.seen]
    grouped = _by_text(passed, lambda finding: finding.seen)
    return [{"check": check, "cells": cells, "seen": seen} for (check, seen), cells in grouped.items()]


def _by_text(findings: Iterable[Finding], text: Callable[[Finding], str]) -> dict[tuple[str, str], list[str]]:
    """Cells by (check, text), so that what is the same everywhere is said once."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        grouped.setdefault((finding.check, text(finding)), []).append(finding.cell)
    return grouped
