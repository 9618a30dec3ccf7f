"""Joins the events of one request into its answers. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ....engine.request import Arrival, Generation
from .asking import Answer, Ask, Delta, Piece, TokenLogprob
from .counters import Counters, summed
from .errors import Garbled, Lacking, ServerFailed, Unfinished

_ENDS = {"length": "length", "stop": "stop", "tool_calls": "stop", "function_call": "stop", "eos": "stop"}
_REPORT = "report it to the server's authors"


class Gathering:
    """The answers to one ask, as far as they have come from `replica`; `where` is named in errors."""

    def __init__(self, ask: Ask, replica: str, where: str) -> None:
        self.ask, self.replica, self.where = ask, replica, where
        self._parts = [_Part() for _ in range(ask.n)]
        self._usage: Mapping[str, Any] = {}
        self._counters: dict[tuple[int, ...], Counters] = {}  # by the answers that they were told with

    def take(self, seconds: float, delta: Delta) -> None:
        """Adds what came `seconds` after the request was sent. Raises Garbled where it contradicts what came before."""
        for piece in delta.pieces:
            if not 0 <= piece.place < self.ask.n:
                raise Garbled(self.where, f"an answer of index {piece.place} where n is {self.ask.n}", _REPORT)
            emitted = delta.emitted if self.ask.n == 1 else None
            if not self._parts[piece.place].add(seconds, piece, emitted):
                raise Garbled(self.where, "an event takes back tokens or text of an earlier one", _REPORT)
        self._usage = delta.usage or self._usage
        if delta.counters:
            self._counters[tuple(piece.place for piece in delta.pieces)] = delta.counters

    def answers(self) -> list[Answer]:
        """One answer an index. Raises Unfinished, Lacking or ServerFailed where something is missing."""
        return [self._answer(index, part) for index, part in enumerate(self._parts)]

    def _answer(self, index: int, part: _Part) -> Answer:
        finish = self._finish(part)
        wanted = self.ask.logprobs is not None and not self.ask.messages  # chat may leave them out of streams and calls
        if wanted and not part.logprobs and (part.ids or part.text):
            raise Lacking(self.where, "no logprobs in the answer, though asked for", "switch them on in the server")
        if part.ids is not None and part.logprobs and len(part.logprobs) != len(part.ids):
            told = f"{len(part.logprobs)} logprobs for {len(part.ids)} ids"
            raise Garbled(self.where, told, _REPORT)
        counted = part.counted()
        return Answer(
            generation=Generation(
                name=self.ask.request.name,
                tokens=tuple(part.ids or ()),
                text=part.text,
                finish=finish,
                prefill=0,
                arrivals=part.arrivals(counted),
            ),
            counted=counted,
            ending=part.finish or "",
            replica=self.replica,
            index=index,
            logprobs=tuple(part.logprobs) if self.ask.logprobs is not None else None,
            tool_calls=tuple(part.tool_calls[key] for key in sorted(part.tool_calls)),
            usage=self._usage,
            counters=summed([*self._counters.values()]) if self._counters else None,
        )

    def _finish(self, part: _Part) -> str:
        if part.finish is None:
            told = f"the answer ends without a finish reason after {len(part.ids or part.text)} tokens or characters"
            raise Unfinished(self.where, told, _REPORT)
        if part.finish not in _ENDS:
            raise ServerFailed(
                self.where, f"the server ended the answer: {part.finish!r}", "look at its log, then resume"
            )
        if _ENDS[part.finish] == "length":
            return "length"
        stops, eos = self.ask.request.stop, self.ask.request.eos
        if isinstance(part.matched, str) and part.matched in stops:
            return "stop"
        named_stop = part.matched is None and stops and part.ids and eos and part.ids[-1] not in eos
        return "stop" if named_stop else "eos"


class _Part:
    """One answer as far as it has come."""

    def __init__(self) -> None:
        self.text, self.finish, self.matched = "", None, None  # type: tuple[str, str | None, int | str | None]
        self.ids: list[int] | None = None
        self.logprobs: list[TokenLogprob] = []
        self.tool_calls: dict[int, dict[str, Any]] = {}
        self._came: list[tuple[float, int, int, int | None]] = []  # seconds, ids, logprobs, the server's running count

    def add(self, seconds: float, piece: Piece, emitted: int | None) -> bool:
        """Whether the piece goes on where the last one ended."""
        ids, text = piece.ids, piece.text
        if piece.cumulative:
            if not (text.startswith(self.text) and list(ids or ())[: len(self.ids or ())] == (self.ids or [])):
                return False
            text, ids = text[len(self.text) :], None if ids is None else ids[len(self.ids or ()) :]
        self.text += text
        if ids is not None:
            self.ids = self.ids if self.ids is not None else []
            self.ids.extend(ids)
        logprobs = (piece.logprobs or ())[len(self.logprobs) if piece.cumulative else 0 :]
        self.logprobs += logprobs
        for call in piece.tool_calls:
            _join(self.tool_calls, call)
        self.finish, self.matched = piece.finish or self.finish, piece.matched or self.matched
        if ids or text or logprobs:
            self._came.append((seconds, len(ids or ()), len(logprobs), emitted))
        return True

    def counted(self) -> str:
        """What tells how many tokens came when."""
        if self.ids is not None:
            return "ids"
        if self.logprobs:
            return "logprobs"
        return "usage" if self._came and all(row[3] is not None for row in self._came) else "none"

    def arrivals(self, counted: str) -> tuple[Arrival, ...]:
        """Bursts by what `counted` says; a burst of text alone is listed with 0 tokens."""
        if counted == "usage":
            totals = [0, *(row[3] or 0 for row in self._came)]
            counts = [last - first for first, last in pairwise(totals)]
        else:
            column = {"ids": 1, "logprobs": 2}.get(counted)
            counts = [int(row[column] or 0) if column else 0 for row in self._came]
        return tuple(Arrival(row[0], count) for row, count in zip(self._came, counts, strict=True))


def _join(calls: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> None:
    """Adds a part of a tool call: arguments come in pieces, the rest once."""
    index = int(part.get("index", len(calls)))
    call = calls.setdefault(index, {"name": "", "arguments": ""})
    function = part.get("function") or {}
    call["name"] += function.get("name") or ""
    call["arguments"] += function.get("arguments") or ""
