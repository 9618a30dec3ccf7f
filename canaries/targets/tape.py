"""A tape: all that a run asks of its baseline, and what it answered, in one file that ends with its own digest.

The first line is the document, the second its sha256. Knows what stands where; neither asks nor judges.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import documents
from ..errors import ExistingRun, OutputUnwritable, UsageError
from ..record import digest

if TYPE_CHECKING:
    from pathlib import Path

    from ...suites.suite import Suite

SCHEMA = 1
LINES = 2  # the document, and its digest
AGAIN = "record it again with --record-baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tape:
    """What was kept.

    `made`: with which draftgate, when, for which suite and seed. `arm`: what the baseline is, as plain JSON.
    `calls`: the answers to each thing that was asked, by its `key`, in the order in which they came.
    """

    made: Mapping[str, Any]
    arm: Mapping[str, Any]
    calls: Mapping[str, list[Any]]
    sha256: str = ""

    def refuse_other(self, suite: Suite, seed: int) -> None:
        """Raises UsageError where another suite or another seed is run than was recorded."""
        named = self.made["suite"]
        if named["digest"] != suite.digest:
            told = f"{named['name']}/{named['version']} of digest {named['digest'][:12]}"
            asked = f"{suite.name}/{suite.version} of {suite.digest[:12]}"
            raise UsageError(f"the kept baseline was asked the suite {told}, not {asked}; run that, or {AGAIN}")
        if self.made["seed"] != seed:
            raise UsageError(f"the kept baseline was asked with --seed {self.made['seed']}, not {seed}; give that one")


def key(method: str, *asked: Any) -> str:
    """What answers are found by: a digest of what was asked."""
    return digest(documents.encode([method, *asked]))


def check(path: Path) -> None:
    """A tape may be written at `path`. Raises ExistingRun where something stands there, or OutputUnwritable."""
    if os.path.lexists(path):
        raise ExistingRun(f"{path} is there already, and a kept baseline is never overwritten; name another file")
    try:
        documents.partial_of(path).touch(exist_ok=False)  # by the name that `write` takes: it may be too long
        documents.partial_of(path).unlink()
    except OSError as error:
        raise OutputUnwritable(f"{path} cannot be written ({error.strerror}); name a file in a folder") from error


def write(path: Path, tape: Tape) -> str:
    """The tape stands whole at `path`, where nothing stood before; returns its digest."""
    document = {"tape": SCHEMA, "made": tape.made, "arm": tape.arm, "calls": tape.calls}
    data = documents.encode(document)
    check(path)
    documents.write(path, data + documents.encode({"sha256": digest(data)}))
    return digest(data)


def read(path: Path) -> Tape:
    """The tape at `path`. Raises UsageError where there is none, or not as it was recorded."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise UsageError(f"{path}: no kept baseline can be read ({error.strerror}); name its file") from None
    try:
        told = documents.decode(lines[-1])["sha256"] if len(lines) == LINES else None
    except (ValueError, LookupError, TypeError):
        told = None
    if told is None:
        raise UsageError(f"{path} is no kept baseline, or was cut short; {AGAIN}")
    if digest(lines[0]) != told:
        raise UsageError(f"{path} was changed after it was recorded (sha256 {digest(lines[0])[:12]}); {AGAIN}")
    return _parsed(path, lines[0], told)


def _parsed(path: Path, line: bytes, sha256: str) -> Tape:
    try:
        document = documents.decode(line)
        schema = document["tape"]
    except (ValueError, LookupError, TypeError):
        raise UsageError(f"{path} is no kept baseline; {AGAIN}") from None
    if schema != SCHEMA:
        raise UsageError(f"{path} is a tape of schema {schema}, this version reads {SCHEMA}; {AGAIN}")
    if wrong := documents.complaint(document, "tape"):
        raise UsageError(f"{path} is no kept baseline ({wrong}); {AGAIN}")
    return Tape(made=document["made"], arm=document["arm"], calls=document["calls"], sha256=sha256)
