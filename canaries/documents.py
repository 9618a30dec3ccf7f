"""Strict JSON and the schemas that ship: how records and summaries are put into bytes and taken out of them.

A number that is not finite is written as null and refused when read. Knows nothing about what the documents mean.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from numbers import Integral, Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NoReturn

import jsonschema

from .errors import OutputUnwritable

if TYPE_CHECKING:
    from pathlib import Path


def plain(value: Any) -> Any:
    """The same document in lists, dicts, strings and finite numbers; dataclasses as dicts, NaN and infinity as null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, PurePath):
        return str(value)
    return _number(value) if isinstance(value, Real) else value


def encode(document: Any, *, indent: int | None = None) -> bytes:
    """ASCII JSON without NaN or Infinity, ending in a newline; one line unless indented."""
    return json.dumps(plain(document), allow_nan=False, indent=indent).encode("ascii") + b"\n"


def decode(data: bytes) -> Any:
    """What `encode` wrote. Raises ValueError for anything that is not strict, finite JSON."""
    try:
        return json.loads(
            data.decode("utf-8"), parse_constant=_not_a_number, parse_float=_finite, object_pairs_hook=_once
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A document in which no key is said twice: the second word must not replace the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def complaint(document: Any, schema: str) -> str | None:
    """The first thing that breaks `canaries/schemas/<schema>.schema.json`, with its place; None when nothing does."""
    error = jsonschema.exceptions.best_match(_validator(schema).iter_errors(document))
    return f"{error.json_path}: {_short(error.message)}" if error else None


def partial_of(path: Path) -> Path:
    """Where this process puts what will stand at `path`, until it is whole."""
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


def write(path: Path, data: bytes) -> None:
    """All of `data` stands at `path`, or what stood there before; never a part. Raises OutputUnwritable."""
    partial = partial_of(path)
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OutputUnwritable(f"{path} cannot be written ({error.strerror}); choose another folder") from error


def difference(one: Any, other: Any, *, ignore: frozenset[str] = frozenset(), at: str = "") -> str | None:
    """The first place where two documents differ, as `a.b.0: 1, not 2`; None when they are the same.

    Keys in `ignore` may differ, wherever they stand.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in {**one, **other} if key not in ignore]
        pairs = [(key, one.get(key), other.get(key)) for key in keys]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(str(place), *both) for place, both in enumerate(zip(one, other, strict=True))]
    else:
        return None if one == other else f"{at}: {repr(one)[:60]}, not {repr(other)[:60]}"
    found = (difference(mine, yours, ignore=ignore, at=f"{at}.{key}".lstrip(".")) for key, mine, yours in pairs)
    return next((place for place in found if place), None)


@cache
def _validator(schema: str) -> Any:
    text = files(__package__).joinpath("schemas", f"{schema}.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _number(value: Real) -> bool | int | float | None:
    """The same number as Python's own, whichever library made it; None where it is not finite."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if math.isfinite(value) else None


def _short(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large for a number")
    return value
