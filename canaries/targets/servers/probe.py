"""Asks a server what it can do, one small request a feature; nothing is assumed from its name.

A feature is offered where its answer shows it; one that is answered with a refusal or without what was asked for is
not. A server that dies of a question raises DiedOf: that is a finding about the server. One that hangs at a few tokens
of plain text is asked nothing more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ....engine.request import Request, Sampling
from .asking import Answer, Ask
from .errors import DiedOf, Hung, ServerError, Unauthorised, Untrusted
from .server import Server
from .texts import check_text

_TOKENS, _CALL = 8, 64  # of an answer, and of one that is to hold a whole call
_TEXT = "The cat sat. The cat sat. The cat"  # every model goes on with words
_IDS = (5, 6, 7, 5, 6)  # small ids are in every vocabulary
_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
_TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": _SCHEMA}}
_HELLO = ({"role": "user", "content": "Say hello."},)
_FORMAT = {"type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA, "strict": True}}


class Feature(NamedTuple):
    """Whether a server offers something, and what showed it."""

    name: str
    offered: bool
    shown: str


@dataclass(frozen=True, slots=True)
class _No:
    """A feature is not there, and why."""

    why: str


def probe(server: Server) -> list[Feature]:
    """Every feature in the order of the table. Raises ServerError where the server cannot be asked at all."""
    return [*features(server)]


def features(server: Server) -> Iterator[Feature]:
    """The features one by one, so that those before a death are known. Raises as `probe` does."""
    yield Feature("model", offered=True, shown=server.model)
    for name, question in QUESTIONS.items():
        yield _answered(server, name, question)


def _answered(server: Server, name: str, question: Callable[[Server], str | _No]) -> Feature:
    try:
        told = question(server)
    except (Unauthorised, Untrusted):
        raise
    except ServerError as error:
        if not server.alive():
            raise DiedOf(error.where, f"the server died of {name!r} ({error})", "report it to its authors") from None
        if isinstance(error, Hung) and question is _text:  # whoever hangs there hangs at each that follows
            raise
        return Feature(name, offered=False, shown=str(error))
    return Feature(name, offered=not isinstance(told, _No), shown=told.why if isinstance(told, _No) else told)


def _ask(server: Server, **asked: object) -> list[Answer]:
    """The answers to one small ask; what it asks for replaces a greedy request of a few tokens by ids."""
    small = {"name": "probe", "prompt": _IDS, "max_tokens": _TOKENS}
    request = Request(**small | asked.pop("request", {}))  # type: ignore[operator]
    return server.ask([Ask(request=request, **asked)])[0]  # type: ignore[arg-type]


def _text(server: Server) -> str | _No:
    (answer,) = _ask(server, text=_TEXT, stream=False)
    return f"{answer.generation.text[:24]!r}" if answer.generation.text else _No("no text in the answer")


def _tokenizer(server: Server) -> str | _No:
    text = server.text(server.tokens(_TEXT))
    return "text to ids and back" if text.strip() == _TEXT else f"text to ids; back it is {text[:24]!r}"


def _template(server: Server) -> str | _No:
    return f"{len(server.encode(_HELLO))} tokens"


def _decoded(server: Server) -> str | _No:
    (answer,) = _ask(server, stream=False)
    if not (answer.generation.tokens and answer.generation.text):
        return _No("an answer has ids or text, not both")
    check_text(server.api.name, answer.generation, (), server.text)
    return "the ids decode to the text"


def _prompt_ids(server: Server) -> str | _No:
    (answer,) = _ask(server, stream=False)
    return f"finished by {answer.generation.finish}"


def _token_ids(server: Server) -> str | _No:
    (answer,) = _ask(server)
    n = len(answer.generation.tokens)
    return f"{n} of {_TOKENS}" if answer.counted == "ids" and n else _No(f"tokens are counted by {answer.counted}")


def _stream(server: Server) -> str | _No:
    (answer,) = _ask(server, text=_TEXT)
    bursts = [arrival.tokens for arrival in answer.generation.arrivals]
    return f"{len(bursts)} bursts, counted by {answer.counted}" if len(bursts) > 1 else _No("the answer came at once")


def _logprobs(server: Server) -> str | _No:
    (answer,) = _ask(server, logprobs=2, stream=False)
    rows = answer.logprobs or ()
    known = [len(row.best) for row in rows if row.best]
    return f"{len(known)} of {len(rows)} tokens, {max(known)} best each" if known else _No("no token has them")


def _forcing(server: Server) -> str | _No:
    (answer,) = _ask(server, stream=False)
    tokens = answer.generation.tokens or _IDS
    rows = server.score(_IDS, tokens, 2)
    known = sum(not math.isnan(row.logprob) for row in rows)
    requests = 1 if server.api.forced(server.model, _IDS, tokens, 2) else len(rows)
    told = f"{known} of {len(rows)} tokens known, by {requests} request{'s' if requests > 1 else ''}"
    return told if known else _No(told)


def _several(server: Server) -> str | _No:
    answers = _ask(server, n=2, stream=False, request={"sampling": Sampling(temperature=1.0)})
    return f"{len(answers)} answers"


def _seed(server: Server) -> str | _No:
    asked = {"sampling": Sampling(temperature=1.0), "seed": 11}
    first, second = (_ask(server, stream=False, request=asked)[0].generation for _ in range(2))
    alike = (first.tokens, first.text) == (second.tokens, second.text)
    return "the same seed repeats" if alike else _No("the same seed gives another answer")


def _top_k(server: Server) -> str | _No:
    return _only_best(server, "top_k 1", Sampling(temperature=1.0, top_k=1))


def _min_p(server: Server) -> str | _No:
    return _only_best(server, "min_p 1", Sampling(temperature=1.0, min_p=1.0))


def _only_best(server: Server, name: str, drawn: Sampling) -> str | _No:
    """A filter that leaves the best token alone must make sampling greedy."""
    (greedy,), (first,) = _ask(server, stream=False), _ask(server, stream=False, request={"sampling": drawn, "seed": 7})
    alike = (greedy.generation.tokens, greedy.generation.text) == (first.generation.tokens, first.generation.text)
    return f"{name} is greedy" if alike else _No(f"{name} is not greedy: it is ignored, or ties are near")


def _stop(server: Server) -> str | _No:
    whole = _ask(server, text=_TEXT, stream=False)[0].generation.text
    word = whole[len(whole) // 2 :][:3]
    if not word:
        return _No("no text to stop at")
    cut = _ask(server, text=_TEXT, stream=False, request={"stop": (word,)})[0].generation
    return f"stops at {word!r}" if len(cut.text) < len(whole) else _No(f"went on after {word!r}")


def _chat(server: Server) -> str | _No:
    (answer,) = _ask(server, messages=_HELLO, stream=False)
    return f"finished by {answer.generation.finish}"


def _tools(server: Server) -> str | _No:
    named = {"type": "function", "function": {"name": "look"}}
    room = {"max_tokens": _CALL}
    (answer,) = _ask(server, messages=_HELLO, stream=False, tools=(_TOOL,), tool_choice=named, request=room)
    return f"calls {answer.tool_calls[0]['name']!r}" if answer.tool_calls else _No("no call in the answer")


def _json(server: Server) -> str | _No:
    (answer,) = _ask(server, messages=_HELLO, stream=False, response_format=_FORMAT)
    text = answer.generation.text.strip()
    try:
        json.loads(text)
    except ValueError:
        return _No(f"the answer begins {text[:16]!r}") if not text.startswith("{") else "begins as an object"
    return "valid"


def _counters(server: Server) -> str | _No:
    before = server.counters()
    (answer,) = _ask(server, stream=False)
    counted = {**server.counted(before).to_json(), **(answer.counters.to_json() if answer.counters else {})}
    told = {key: value for key, value in counted.items() if key in ("rounds", "drafted", "accepted")}
    return ", ".join(f"{key} {value}" for key, value in told.items()) or _No("nothing is told about drafts")


def _configuration(server: Server) -> str | _No:
    known = [path for path, told in server.identity()["configuration"].items() if told]
    return ", ".join(known) or _No("the server does not tell it")


def _reset(server: Server) -> str | _No:
    server.reset()
    return "emptied"


def _salt(server: Server) -> str | _No:
    _ask(server, stream=False, salt="probe")
    return "taken"


def _switches(server: Server) -> str | _No:
    found = server.switches()
    return _No("; ".join(f"{row.kind}: {row.text}" for row in found)) if found else "none seen"


QUESTIONS: dict[str, Callable[[Server], str | _No]] = {
    "text": _text,
    "tokenizer": _tokenizer,
    "chat template": _template,
    "prompt as ids": _prompt_ids,
    "ids in answers": _token_ids,
    "text of ids": _decoded,
    "streaming": _stream,
    "logprobs": _logprobs,
    "teacher forcing": _forcing,
    "n answers": _several,
    "seed": _seed,
    "top_k": _top_k,
    "min_p": _min_p,
    "stop strings": _stop,
    "chat": _chat,
    "tools": _tools,
    "json_schema": _json,
    "speculative counters": _counters,
    "configuration": _configuration,
    "cache reset": _reset,
    "cache salt": _salt,
    "no lossy switch": _switches,
}
