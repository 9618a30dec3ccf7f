"""Whether an answer to a sample of the corpus is right: equal text or calls, JSON by its schema, code that runs.

Code is run in a process of its own with a wall limit. That is enough for what the family writes while it is trained;
it is no cage for code that means harm.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

from .corpus import Sample
from .corpus.tools import parse_calls

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
SECONDS = 5.0  # wall limit of one answer's code


def right(sample: Sample, answer: str) -> bool:
    """Whether the answer does what the sample asks. Of a free text only that it is made of whole sentences."""
    if sample.asserts:
        return runs("\n".join([answer, *sample.asserts]))
    if sample.schema is not None:
        return fits(answer, sample)
    if sample.free:
        return answer.endswith(".")
    wanted = parse_calls(sample.answer)
    return answer == sample.answer if wanted is None else parse_calls(answer) == wanted


def fits(answer: str, sample: Sample) -> bool:
    """Whether the answer is JSON: the very object that was asked for, or any of its schema where values are free."""
    try:
        value = json.loads(answer)
    except ValueError:
        return False
    if sample.schema is not None and sample.free:
        return satisfies(value, sample.schema)
    return json.dumps(value, sort_keys=True) == json.dumps(json.loads(sample.answer), sort_keys=True)


def satisfies(value: Any, schema: dict[str, Any]) -> bool:
    """JSON schema as far as the corpus uses it: types, enumerations, bounds, and objects of exactly these fields."""
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if not _is(value, kind):
        return False
    if kind == "object":
        fields = schema["properties"]
        return set(value) == set(fields) and all(satisfies(value[name], fields[name]) for name in fields)
    if kind == "array":
        return all(satisfies(item, schema["items"]) for item in value)
    return kind != "integer" or bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def runs(program: str) -> bool:
    """Whether the program ends well within the limit, in an empty folder and without our environment."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(  # noqa: S603 - our own interpreter
                [sys.executable, "-I", "-S", "-c", program],
                cwd=folder,
                env={},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
        except (subprocess.TimeoutExpired, ValueError):  # ValueError: a NUL in the program
            return False
    return done.returncode == 0


def _is(value: object, kind: str) -> bool:
    return type(value) is TYPES[kind]  # `True` is an int to Python, but no integer to JSON
