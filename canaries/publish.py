"""The only way a speed result leaves the gate: its record is judged again, and must PASS again.

Writes a folder with the record, the summary and a page for people, whole or not at all.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from . import documents, record, summary
from .contracts import KEPT
from .errors import CannotJudge, ExistingRun, NotPublishable, OutputUnwritable, RecordBroken
from .report.text import clean, interval, number, odds, on_what, speed_line, where

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Judge = Callable[[record.Record], dict[str, Any]]


def publish(run: Path, to: Path, judge: Judge | None = None) -> Path:
    """The folder `<to>/<suite>-<record>` that now holds the result of `run`.

    `judge` recomputes a summary from a record; `canaries.judge.judge_record` unless given. Raises NotPublishable for
    anything but a PASS, CannotJudge for a record that is incomplete or was edited, ExistingRun when already published.
    """
    stored = summary.read(run)
    data = record.load(run)
    _judged_again(stored, record.parse(data, str(record.path_of(run))), judge or _judge())
    folder = to / f"{stored['identity']['suite']['name']}-{stored['record_sha256'][:12]}"
    if os.path.lexists(folder):
        raise ExistingRun(f"{folder} is there already; this result is published, or choose another --to")
    files = {record.NAME: data, summary.NAME: documents.encode(stored, indent=1), "result.md": page(stored).encode()}
    _write(folder, files)
    return folder


def page(stored: Mapping[str, Any]) -> str:
    """The result for people, as Markdown: verdict, figure, scope, identity."""
    identity, headline = stored["identity"], stored["headline"]
    suite = identity["suite"]
    facts = [
        f"suite: {suite['name']} {suite['version']}, digest {suite['digest']}",
        *(f"{arm}: {identity[arm].get('name', '')}, {_digest(identity[arm])}" for arm in ("baseline", "candidate")),
        *on_what(identity),
        f"seed: {identity['seed']}",
        f"record: sha256 {stored['record_sha256']}",
        f"draftgate: {stored['draftgate']}",
    ]
    lines = [
        f"# {stored['verdict']}: {number(headline['ratio'])}x",
        "",
        f"Speed {speed_line(headline)}.",
        f"Plain against plain {interval(headline['aa_low'], headline['aa_high'])}.",
        "This figure holds for this scope only.",
        "",
        *_listed("Scope", [cell["name"] for cell in stored["cells"]]),
        *_listed("Not looked at", [where(row["what"], row["cells"]) for row in stored["not_looked_at"]]),
        *_listed(
            "Would have been seen", [f"{where(row['check'], row['cells'])}: {row['seen']}" for row in stored["seen"]]
        ),
        odds(stored["false_alarm"]),
        "",
        *_listed("Identity", facts),
    ]
    return "\n".join(lines)


def _judged_again(stored: dict[str, Any], found: record.Record, judge: Judge) -> None:
    """Stored and recomputed verdict are both PASS, on a complete record, and nothing but the seconds differs."""
    if not found.ended:
        raise CannotJudge("the record is not complete; finish the run with --resume")
    if found.sha256 != stored["record_sha256"]:
        raise RecordBroken("the record was changed after it was judged; judge it again with --resume")
    again = _sound(judge, found)
    verdicts = {stored["verdict"], again["verdict"]}
    if verdicts != {"PASS"}:
        worst = next(verdict for verdict in ("HOLD", "LOSSY", *verdicts) if verdict in verdicts)
        raise NotPublishable(f"the verdict is {worst}, and only a PASS is published; read it with draftgate report")
    if different := summary.difference(stored, again):
        raise NotPublishable(f"summary.json is not what its record gives ({different}); judge it again with --resume")
    if KEPT in stored["identity"]["baseline"]:
        raise NotPublishable(
            "the baseline of this run was kept from another hour, so no speed is claimed; run both arms"
        )
    if stored["fault"]:
        raise NotPublishable(f"the fault {stored['fault']} was planted in this run; run without --fault")
    if not stored["headline"] or not isinstance(stored["headline"]["ratio"], (int, float)):
        raise NotPublishable("the run measured no speed, so there is nothing to publish; run a suite that does")


def _sound(judge: Judge, found: record.Record) -> dict[str, Any]:
    from .judge import sound

    return sound(judge, found)


def _judge() -> Judge:
    from .judge import judge_record

    return judge_record


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    try:
        partial.mkdir(parents=True)
        for name, data in files.items():
            documents.write(partial / name, data)
        partial.rename(folder)
    except OSError as error:
        raise OutputUnwritable(f"{folder} cannot be written ({error.strerror}); choose another --to") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _listed(title: str, items: list[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {_quiet(item)}" for item in items), ""] if items else []


def _quiet(text: str) -> str:
    """The text on one line, without meaning to Markdown or HTML."""
    return "".join(f"\\{char}" if char in "\\`*[]<>|#" else char for char in clean(text))


def _digest(arm: Mapping[str, Any]) -> str:
    """What the arm is, in one digest of its whole identity."""
    return f"identity sha256 {record.digest(documents.encode(arm))[:12]}"
