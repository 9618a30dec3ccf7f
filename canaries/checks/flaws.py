"""What can be wrong with an answer, by type; and JSON read strictly enough to tell."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple, NoReturn

from ...suites.dialect import validator
from ..isolation import timed

SECONDS = 1.0  # of processor time to hold one answer against its schema; an honest one takes a thousandth


class Flaw(StrEnum):
    """Why an answer is not right."""

    OTHER_TEXT = "another text"
    CUT = "cut by the token limit"
    NOT_JSON = "not JSON"
    TRAILING = "text after the end of the JSON"
    REPEATED_KEY = "a key that is repeated"
    NOT_FINITE = "NaN, Infinity or a number too large"
    TOO_DEEP = "nested too deeply"
    NOT_BY_SCHEMA = "not by its schema"
    TOO_SLOW = f"takes more than {SECONDS:g} s to hold against its schema"
    NOT_A_CALL = "a line that is no tool call"
    OTHER_CALLS = "other calls than asked, or more, or fewer"
    UNKNOWN_TOOL = "a tool that is not offered"
    WRONG_ARGUMENTS = "arguments that break the tool's schema"
    OTHER_ARGUMENTS = "other arguments than asked"
    OTHER_VALUE = "another value than asserted"


class Flawed(NamedTuple):
    """One flaw of one answer; `detail` says which of its kind, where there are many."""

    flaw: StrEnum
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.flaw} ({self.detail})" if self.detail else str(self.flaw)


class NotStrict(ValueError):
    """The text is not one strict JSON document."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw)
        self.flaw = flaw


def document(text: str) -> Any:
    """The one JSON document that the text is. Raises NotStrict."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_not_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise NotStrict(Flaw.TRAILING if error.msg == "Extra data" else Flaw.NOT_JSON) from None
    except NotStrict:
        raise
    except ValueError:  # an integer of more digits than Python reads
        raise NotStrict(Flaw.NOT_FINITE) from None
    except RecursionError:
        raise NotStrict(Flaw.TOO_DEEP) from None


def satisfies(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether JSON Schema accepts the value. Raises NotStrict where that cannot be told: too large, deep or slow."""
    try:
        with timed.limited(SECONDS):
            return bool(validator(schema).is_valid(value))
    except timed.TimeIsUp:  # references that multiply, or a pattern that goes back and forth
        raise NotStrict(Flaw.TOO_SLOW) from None
    except OverflowError:  # `multipleOf` divides, and an integer may be too large for a float
        raise NotStrict(Flaw.NOT_FINITE) from None
    except RecursionError:  # a schema that refers to itself, or items that are compared
        raise NotStrict(Flaw.TOO_DEEP) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotStrict(Flaw.REPEATED_KEY)
    return found


def _not_finite(_: str) -> NoReturn:
    raise NotStrict(Flaw.NOT_FINITE)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_finite(text)
