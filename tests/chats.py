"""Small honest observations of chat for the checks, and the pieces to spoil them with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import observed

from draftgate.canaries.contracts import Finding
from draftgate.canaries.observations.chat import FORMS, TURNS, slots
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE
from draftgate.suites.chat import Chat
from draftgate.suites.suite import Canary, Required, Suite

NUMBERS = Chat(prompts=2, tokens=20, batch=2, logprobs=2, effect=0.9, told_effect=0.2)
TOOL = {"name": "look", "parameters": {"type": "object"}}
CALL = {"name": "look", "arguments": {"type": "object"}}
CANARIES = (
    *(Canary(id=f"exact-{n}", kind="exact", messages=observed.ASK, expect="a") for n in (1, 2)),
    *(Canary(id=f"tools-{n}", kind="tools", messages=observed.ASK, tools=(TOOL,), calls=(CALL,)) for n in (1, 2)),
    *(Canary(id=f"json-{n}", kind="json", messages=observed.ASK, schema={"type": "integer"}) for n in (1, 2)),
)
TOKENS = (5, 6, 7, 0)
GAP = 3.0  # logits between the two best tokens
CHECKS = ("chat", "logprobs")


@cache
def suite() -> Suite:
    """Two canaries of each of three kinds, in cells that require these checks alone."""
    required = {"server": Required(greedy=CHECKS, sampled=("pit",))}
    return replace(observed.suite(), canaries=CANARIES, required=required, chat=NUMBERS)


def said(form: str = "whole", **changes: Any) -> dict[str, Any]:
    """An honest answer as recorded: a call where tools are offered, the wrapped schema where one is asked for."""
    sort = FORMS[form].sort
    answer = {
        "text": {"tools": "", "schema": '{"answer": 7}'}.get(sort, "abc"),
        "finish": "tool_calls" if form.startswith("tools") else "stop",
        "calls": [["look", '{"a": 1}']] if sort == "tools" else [],
        "usage": {"prompt_tokens": 9, "completion_tokens": len(TOKENS) * FORMS[form].n},
        "tokens": list(TOKENS),
        "told": [row(token) for token in TOKENS] if FORMS[form].told else [],
    }
    return answer | changes


def row(token: int, value: float = -0.5, other: int = 9, gap: float = GAP) -> list[Any]:
    """What is told of a token that is the best one."""
    return [token, value, [[token, value], [other, value - gap]]]


def chatted() -> dict[str, Any]:
    """The observation of two honest servers, anew at each call."""
    heard = [
        slot._asdict()
        | {turn: {"refused": None, "answers": [said(slot.form) for _ in range(FORMS[slot.form].n)]} for turn in TURNS}
        for slot in slots(suite())
    ]
    nothing: dict[str, None] = dict.fromkeys((BASELINE, CANDIDATE))
    refused = {"chat": dict(nothing), "completions": dict(nothing)}
    return {"refused": refused, "drafted": dict.fromkeys(FORMS, 40), "slots": heard}


def record(change: Callable[[dict[str, Any]], Any] | None = None) -> dict[str, Any]:
    """An honest record with chat, after `change` was made to it in place."""
    chat = chatted()
    if change:
        change(chat)
    asked = suite().canaries_for(observed.GREEDY)
    return observed.served_cell(observed.GREEDY, asked) | {"chat": chat}


def heard(chat: dict[str, Any], form: str, turn: str = CANDIDATE, canary: int = 0, together: int = 0) -> dict[str, Any]:
    """What came of one ask, to be changed in place."""
    found = [one for one in chat["slots"] if (one["form"], one["together"]) == (form, together)]
    one: dict[str, Any] = found[canary][turn]
    return one


def every(chat: dict[str, Any], *turns: str, forms: tuple[str, ...] = tuple(FORMS)) -> list[dict[str, Any]]:
    """All answers of some turns in some forms, to be changed in place."""
    return [
        answer for one in chat["slots"] if one["form"] in forms for turn in turns for answer in one[turn]["answers"]
    ]


def refuse(one: dict[str, Any], words: str = 'http://x: 400 ({"error":{"message":"not here"}}); do without') -> None:
    """An ask is refused."""
    one.update(refused=words, answers=[])


def judged(check: str, change: Callable[[dict[str, Any]], Any] | None = None) -> Finding:
    """What a check says of the record after a change."""
    return observed.judged(check, record(change), of=suite(), kind="server")
