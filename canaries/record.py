"""The record of a run: append-only JSON lines from which every figure and verdict can be recomputed offline.

A line is a header (first), an observation, or an end. A record that was interrupted is readable and can be resumed: an
observation that was made is never made again, one that was half written is. Knows nothing about what is observed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from . import documents
from .errors import ExistingRun, OutputUnwritable, RecordBroken, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

NAME = "record.jsonl"
SCHEMA = 1
VOLATILE = frozenset({"started"})  # header keys that may differ when a run is resumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a run observed. `ended`: all was observed. `interrupted`: it stopped on purpose before that.

    `seconds` is the sum over the observations: more than passed on the wall where some were made side by side.
    """

    header: dict[str, Any]
    observations: dict[str, Any]
    seconds: float
    ended: bool
    interrupted: bool
    sha256: str


class Made(NamedTuple):
    """An observation, and the seconds that it took where it was made."""

    data: Any
    seconds: float


def timed(compute: Callable[[], Any]) -> Made:
    """What `compute` returns, on the clock."""
    started = time.perf_counter()
    data = compute()
    return Made(data, time.perf_counter() - started)


def path_of(place: Path) -> Path:
    """The record file of a run folder, or the file itself."""
    return place / NAME if place.is_dir() else place


def read(place: Path) -> Record:
    """The record in a folder or file. Raises RecordBroken with the line that is wrong."""
    return parse(load(place), str(path_of(place)))


def load(place: Path) -> bytes:
    """The bytes of a record. Raises RecordBroken where there is none."""
    try:
        return path_of(place).read_bytes()
    except OSError as error:
        raise RecordBroken(f"{place}: no record can be read ({error.strerror}); name the folder of a run") from error


def digest(data: bytes) -> str:
    """What a summary names its record by."""
    return hashlib.sha256(data).hexdigest()


def parse(data: bytes, name: str = NAME) -> Record:
    """What the bytes of a record say. Raises RecordBroken."""
    lines = data.split(b"\n")
    if lines.pop():
        raise RecordBroken(f"{name} line {len(lines) + 1} is cut short; finish the run with --resume")
    if not lines:
        raise RecordBroken(f"{name} is empty; run again with another --out")
    documents_ = [_line(line, f"{name} line {number}") for number, line in enumerate(lines, start=1)]
    header = {key: value for key, value in documents_[0].items() if key not in {"type", "schema"}}
    observations = _observations(documents_, name)
    last = documents_[-1]
    return Record(
        header=header,
        observations=observations,
        seconds=sum(line["seconds"] for line in documents_ if line["type"] == "observation"),
        ended=last["type"] == "end" and not last["interrupted"],
        interrupted=last["type"] == "end" and last["interrupted"],
        sha256=digest(data),
    )


def check_folder(folder: Path, *, resume: bool) -> None:
    """A record is in `folder` iff we resume, and files can be made there. Leaves nothing behind."""
    there = os.path.lexists(folder / NAME)
    if there and not resume:
        raise ExistingRun(f"{folder} holds a record already; add --resume or choose another --out")
    if resume and not there:
        raise UsageError(f"{folder} holds no record to resume; leave --resume out")
    made = _make(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        _unmake(made)


class Journal:
    """A record being written. As a context it marks the record complete, or interrupted if an exception ends it."""

    def __init__(self, file: Any, record: Record, *, size: int) -> None:
        _lock(file)
        self._file = file
        self._size = size
        self._ended = record.ended
        self._observations = dict(record.observations)

    @classmethod
    def create(cls, folder: Path, header: Mapping[str, Any]) -> Journal:
        """A record with nothing but its header. Raises ExistingRun or OutputUnwritable, leaving nothing behind."""
        first = documents.encode({"type": "header", "schema": SCHEMA} | dict(header))
        record = parse(first, "the header")
        made = _make(folder)
        try:
            file = (folder / NAME).open("xb", buffering=0)
        except FileExistsError:
            raise ExistingRun(f"{folder} holds a record already; add --resume or choose another --out") from None
        except OSError as error:
            _unmake(made)
            raise _unwritable(folder, error) from error
        journal = cls(file, record, size=0)
        journal._append(first)
        return journal

    @classmethod
    def resume(cls, folder: Path, header: Mapping[str, Any]) -> Journal:
        """The record in `folder`, less a half-written last line. Raises UsageError when another run wrote it."""
        data = load(folder)
        whole = data[: data.rfind(b"\n") + 1]
        first = documents.encode({"type": "header", "schema": SCHEMA} | dict(header))
        record = parse(whole or first, str(path_of(folder)))
        if different := documents.difference(record.header, parse(first, "the header").header, ignore=VOLATILE):
            raise UsageError(f"{folder} was recorded with another {different}; choose another --out")
        try:
            file = path_of(folder).open("r+b", buffering=0)
            file.truncate(len(whole))
        except OSError as error:
            raise _unwritable(folder, error) from error
        file.seek(len(whole))
        journal = cls(file, record, size=len(whole))
        if not whole:
            journal._append(first)
        return journal

    @property
    def observations(self) -> Mapping[str, Any]:
        """All that was observed so far, by key."""
        return self._observations

    def has(self, key: str) -> bool:
        """Whether `key` was observed. Raises RecordBroken where it was not and the record is complete."""
        if self.finished_without(key):
            raise RecordBroken(f"{self._file.name} is complete but lacks {key}; run again with another --out")
        return key in self._observations

    def finished_without(self, key: str) -> bool:
        """Whether the record is complete and `key` was not observed."""
        return self._ended and key not in self._observations

    def step(self, key: str, compute: Callable[[], Any]) -> Any:
        """The observation `key` as plain JSON, made now unless it was made before; on disk when this returns."""
        if not self.has(key):
            self.add(key, timed(compute))
        return self._observations[key]

    def add(self, key: str, made: Made) -> None:
        """Puts on disk an observation that the record does not have."""
        line = documents.encode({"type": "observation", "key": key, "seconds": made.seconds, "data": made.data})
        self._append(line)
        self._observations[key] = documents.decode(line)["data"]

    def end(self, *, interrupted: bool) -> None:
        """The record says how it ended. A complete record stays as it is."""
        if not self._ended:
            self._append(documents.encode({"type": "end", "interrupted": interrupted}))
            self._ended = not interrupted
        self.close()

    def close(self) -> None:
        """The file is closed, with no word on how the run ended: as a crash would leave it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self._file.closed:
            self.end(interrupted=kind is not None)

    def _append(self, line: bytes) -> None:
        """The whole line is on disk, or none of it: an interrupt between two bytes must not spoil the next line."""
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except BaseException as error:
            self._file.truncate(self._size)
            self._file.seek(self._size)
            if isinstance(error, OSError):
                raise _unwritable(Path(self._file.name), error) from error
            raise
        self._size += len(line)


def _lock(file: Any) -> None:
    """Nobody else writes this record until the file is closed. Raises ExistingRun where somebody does."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ExistingRun(f"{file.name} is being written by another run; wait for it or choose another --out") from None


def _line(line: bytes, where: str) -> dict[str, Any]:
    try:
        document = documents.decode(line)
    except ValueError as error:
        raise RecordBroken(f"{where} is not JSON ({error}); run again with another --out") from error
    if isinstance(document, dict) and document.get("type") == "header" and _newer(document.get("schema")):
        raise RecordBroken(f"{where} has schema {document['schema']}, this version reads {SCHEMA}; upgrade draftgate")
    if wrong := documents.complaint(document, "record"):
        raise RecordBroken(f"{where} does not fit the schema ({wrong}); run again with another --out")
    return dict(document)


def _newer(schema: Any) -> bool:
    return isinstance(schema, int) and schema > SCHEMA


def _observations(lines: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The observations by key, once the order of the lines is right: one header first, nothing after a complete end."""
    found: dict[str, Any] = {}
    for number, line in enumerate(lines, start=1):
        after_end = number > 1 and lines[number - 2].get("interrupted") is False
        if (line["type"] == "header") != (number == 1) or after_end:
            raise RecordBroken(f"{name} line {number} is out of place ({line['type']}); run again with another --out")
        if line["type"] == "observation":
            if line["key"] in found:
                raise RecordBroken(f"{name} line {number} repeats {line['key']}; run again with another --out")
            found[line["key"]] = line["data"]
    return found


def _make(folder: Path) -> list[Path]:
    """The folder exists; returns the folders that had to be made, innermost first."""
    made: list[Path] = []
    missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
    try:
        for place in reversed(missing):
            place.mkdir()
            made.insert(0, place)
    except OSError as error:
        _unmake(made)
        raise _unwritable(folder, error) from error
    return made


def _unmake(made: list[Path]) -> None:
    for place in made:
        place.rmdir()


def _unwritable(place: Path, error: OSError) -> OutputUnwritable:
    return OutputUnwritable(f"{place} cannot be written ({error.strerror}); choose another --out")
