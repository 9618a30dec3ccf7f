"""What an HTTP status, or an error told inside a stream, means for the gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import (
    Busy,
    NotServed,
    NotTheApi,
    ServerError,
    ServerFailed,
    Unauthorised,
    Unsupported,
)

_FAILED = (ServerFailed, "look at the server's log, then resume")
_UNKNOWN = (Unsupported, "the server does not take this request")
_LOCKED = (Unauthorised, "name the variable that holds the key with key_env")
_ABSENT = (NotServed, "check model and url; the server lists its models at /v1/models")
_MEANING: dict[int, tuple[type[ServerError], str]] = {
    401: _LOCKED,
    403: _LOCKED,
    404: _ABSENT,
    405: _ABSENT,
    501: _UNKNOWN,  # llama.cpp says so of an end point that a switch turns on
}
_LIMITED = 429
_REDIRECTS, _ERRORS, _SERVER = range(300, 400), range(400, 600), range(500, 600)
_SHOWN = 300


def refusal(where: str, status: int, headers: Mapping[str, str], words: str) -> ServerError:
    """The error that a status stands for; `words` are the server's own, without keys."""
    if status in _REDIRECTS:
        return NotTheApi(where, f"{status} to {headers.get('location', 'nowhere')}", "give the final url")
    if status not in _MEANING and status not in _SERVER and "html" in headers.get("content-type", ""):
        return NotTheApi(where, f"{status} with a web page", "check url and server in the configuration")
    told = f"{status} ({words or 'no words'})"
    if status == _LIMITED:
        after = headers.get("retry-after")
        return Busy(where, told, f"{f'wait {after} s' if after else 'wait'} and resume, or lower concurrency")
    kind, todo = _MEANING.get(status, _FAILED if status in _SERVER else _UNKNOWN)
    return kind(where, told, todo)


def refuse_error(where: str, document: Any) -> dict[str, Any]:
    """The document of an event. Raises ServerError where it tells an error, NotTheApi where it is no object."""
    if not isinstance(document, dict):
        raise NotTheApi(where, f"an event is {str(document)[:80]!r}, no object", "check server in the configuration")
    told = document.get("error") or (document if document.get("object") == "error" else None)
    if not told:
        return document
    code = told.get("code") if isinstance(told, dict) else None
    words = str(told.get("message", told) if isinstance(told, dict) else told)
    raise refusal(
        where, code if isinstance(code, int) and code in _ERRORS else 500, {}, " ".join(words.split())[:_SHOWN]
    )
