"""Dialogues on a live cache, turn by turn, and the same visible texts answered from a fresh one.

The user's turns are the canary's, the assistant's are the candidate's own answers: what a session really sees. Greedy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from ...engine.request import Request
from ...suites.suite import Canary, Conversation
from .answers import fork
from .context import GREEDY, Context, replay_json


def observe(context: Context, numbers: Conversation) -> dict[str, Any]:
    """For every dialogue its turns: entries kept, the live and the fresh answer, a replay where they differ."""
    return {"dialogues": [_played(context, canary, numbers) for canary in context.suite.dialogues]}


def _played(context: Context, canary: Canary, numbers: Conversation) -> dict[str, Any]:
    live, said = context.candidate.dialogue(), list[dict[str, str]]()
    turns: list[dict[str, Any]] = []
    for messages in islice(opened(canary), numbers.turns):
        said += messages
        request = _request(context, replace(canary, messages=tuple(said)), len(turns), numbers.tokens)
        answer = live.answer(request)
        (fresh,) = context.baseline.generate([request])
        differs = fork(request.name, "", fresh.tokens, answer.tokens)
        replays = context.baseline.score([request], [answer.tokens], width=0, slack=0.0) if differs else []
        turns.append(
            {
                "prompt": len(request.prompt),
                "kept": live.kept,
                "live": answer.to_json(),
                "fresh": fresh.to_json(),
                "replay": replay_json(replays[0]) if replays else None,
            }
        )
        said.append({"role": "assistant", "content": answer.text})
    return {"canary": canary.id, "turns": turns}


def opened(canary: Canary) -> Iterator[list[dict[str, str]]]:
    """What is said before each answer: a user turn, and what stands before the first of them."""
    waiting: list[dict[str, str]] = []
    for message in canary.messages:
        if message["role"] != "assistant":
            waiting.append(dict(message))
        if message["role"] == "user":
            yield waiting
            waiting = []


def _request(context: Context, canary: Canary, turn: int, tokens: int) -> Request:
    (request,) = context.requests([canary], tokens=tokens, sampling=GREEDY, label="conversation")
    return replace(request, name=f"{canary.id}/{turn + 1}")
