"""What a server is asked and what it answered, the same for every API.

An arrival counts tokens where the server says how many came: by ids, by logprobs, or by its running usage. A chunk is
never counted as a token: where nothing tells, `counted` is "none" and arrivals count 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....engine.request import Generation, Request
from .counters import Counters


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request as it is put to a server.

    `text` or `messages` replace the request's prompt ids. `logprobs` is how many of the best tokens are listed beside
    each emitted one. `salt` keeps the server from using what it cached under another salt.
    """

    request: Request
    text: str | None = None
    messages: tuple[Mapping[str, Any], ...] = ()
    stream: bool = True
    logprobs: int | None = None
    n: int = 1
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: Any = None
    response_format: Mapping[str, Any] | None = None
    salt: str | None = None

    @property
    def prompt(self) -> str | list[int]:
        """The prompt of a completion."""
        return list(self.request.prompt) if self.text is None else self.text

    @property
    def schema(self) -> Any:
        """The JSON schema that the answer is to follow; None without one."""
        return (self.response_format or {}).get("json_schema", {}).get("schema")


class TokenLogprob(NamedTuple):
    """An emitted token, as an id where the server gives ids, and the best ones at its place; natural logarithms.

    nan and no best ones where the server tells nothing of that token.
    """

    token: int | str
    logprob: float
    best: Mapping[Any, float]


class Piece(NamedTuple):
    """What one event adds to one of the `n` answers; with `cumulative` set, all that it has so far."""

    place: int = 0
    text: str = ""
    ids: tuple[int, ...] | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    finish: str | None = None
    matched: int | str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    cumulative: bool = False


class Delta(NamedTuple):
    """One event: pieces of answers, and what the server counted so far."""

    pieces: tuple[Piece, ...] = ()
    emitted: int | None = None
    usage: Mapping[str, Any] | None = None
    counters: Counters | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One of the `n` answers to an ask.

    `generation.tokens` is empty where the server gave no ids (`counted` is not "ids"): the text alone is then judged.
    `usage` and `counters` are the server's own, over all `n`; `ending` is the finish reason in the server's own word.
    """

    generation: Generation
    counted: str
    replica: str
    ending: str = ""
    index: int = 0
    logprobs: tuple[TokenLogprob, ...] | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    counters: Counters | None = None
