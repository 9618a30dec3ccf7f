"""JSON objects by a description of their fields: values given outright, given in a sentence, or free."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .sample import Sample, turns
from .words import Draw, expand

Value = str | int | bool | list[str]

GIVEN = expand(
    "(Write|Give|Make|Return|Print)( a|) JSON( object|) (with|of|from|for|holding) {}.",
    "(As|In|Turn into|Put into) JSON: {}.",
    "{} - (write|give|put) (this|that) (as|in|into) JSON.",
)
DESCRIBED = expand(
    "(Fields|Schema|Object with|Keys): {fields}. (Values|Data|Facts|Content|Fill in): {facts}.",
    "{facts}. (Write|Give|Return|Fill in) (the|some) (JSON|object|record) with {fields}.",
    "(Write|Make|Return) (JSON|an object|a record) with the fields {fields}, where {facts}.",
)
FREE = expand(
    "(Invent|Make up|Choose|Think of) (some|any) (JSON|object|record) with {fields}.",
    "(Any|Some|Random) (values|content|data) (for|with) (fields|schema): {fields}.",
    "(Make|Write|Give) (any|some) JSON (object|record) (with|having) {fields}.",
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name, its JSON schema, how the prompt describes it, and a value that satisfies the schema."""

    name: str
    schema: dict[str, Any]
    described: str
    value: Value


def objects(draw: Draw) -> Sample:
    """An object whose values the prompt gives."""
    fields = _fields(draw, free=False)
    if draw.chance(0.45):
        joint = draw.of(("=", "=", ": ", " is "))
        given = ", ".join(f"{f.name}{joint}{shown(f.value)}" for f in fields)
        return _sample(fields, draw.order(GIVEN).format(given))
    described = ", ".join(f"{f.name} ({f.described})" for f in fields)
    facts = [f"{f.name}{draw.of((' is ', ' is ', '=', ': '))}{shown(f.value)}" for f in fields]
    if draw.chance(0.5):
        draw.rng.shuffle(facts)
    return _sample(fields, draw.order(DESCRIBED).format(fields=described, facts=", ".join(facts)))


def free_objects(draw: Draw) -> Sample:
    """An object whose values are left to choose within types, enumerations and ranges."""
    fields = _fields(draw, free=True)
    described = ", ".join(f"{f.name} ({f.described})" for f in fields)
    return _sample(fields, draw.order(FREE).format(fields=described), free=True)


def shown(value: Value) -> str:
    """A value as a sentence gives it: `true`, `41`, `Tolan`, `a and b`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " and ".join(value) if isinstance(value, list) else str(value)


def written(fields: Sequence[Field]) -> str:
    """The object as JSON."""
    return json.dumps({f.name: f.value for f in fields})


def strict(fields: Sequence[Field]) -> dict[str, Any]:
    """The schema that only objects of exactly these fields satisfy."""
    return {
        "type": "object",
        "properties": {f.name: f.schema for f in fields},
        "required": [f.name for f in fields],
        "additionalProperties": False,
    }


def only(fields: Sequence[Field]) -> dict[str, Any]:
    """The schema that nothing but the object of these fields and values satisfies."""
    return strict([replace(f, schema={**f.schema, "const": f.value}) for f in fields])


def field(draw: Draw, name: str, *, free: bool) -> Field:
    """A field of this name and a random type."""
    kind = draw.of(("text", "text", "text", "integer", "integer", "flag", "choice", "range", "list"))
    if kind == "integer":
        return Field(name, {"type": "integer"}, "integer", draw.number(0, 10 ** draw.number(1, 3)))
    if kind == "flag":
        return Field(name, {"type": "boolean"}, "boolean", draw.chance(0.5))
    if kind == "choice":
        options = draw.distinct(draw.word, draw.number(2, 3))
        return Field(name, {"enum": options}, f"one of {' or '.join(options)}", draw.of(options))
    if kind == "range":
        least = draw.number(0, 8) * 10
        most = least + draw.number(1, 4) * 10
        schema = {"type": "integer", "minimum": least, "maximum": most}
        return Field(name, schema, f"integer from {least} to {most}", draw.number(least, most))
    if kind == "list" and not free:
        items = [draw.word() for _ in range(draw.number(2, 3))]
        return Field(name, {"type": "array", "items": {"type": "string"}}, "list", items)
    return Field(name, {"type": "string"}, "string", draw.of((draw.word, draw.person))())


def _fields(draw: Draw, *, free: bool) -> list[Field]:
    names = draw.distinct(draw.key, draw.of((1, 2, 2, 3, 3, 4)))
    return [field(draw, name, free=free) for name in names]


def _sample(fields: Sequence[Field], order: str, *, free: bool = False) -> Sample:
    schema = strict(fields) if free else only(fields)
    return Sample(messages=turns(order, written(fields)), schema=schema, free=free)
