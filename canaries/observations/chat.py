"""What people call: chat, streamed and whole, with tools and schemas, and the logprobs that both end points tell.

Greedy, but for completions that are drawn. All is asked of the baseline, of the candidate and of the baseline again:
one by one, then many under way at once. Words with which a server refuses an ask are kept in the place of its answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...engine.request import Sampling
from ...suites.chat import Chat
from ...suites.suite import KINDS, Canary, Suite
from ..targets.servers.asking import Answer, Ask
from .context import GREEDY, Context
from .pairs import BASELINE, CANDIDATE

if TYPE_CHECKING:
    from ..contracts import Heard, Telling

AGAIN = "again"  # the baseline once more, to be held against itself
TURNS = {BASELINE: BASELINE, CANDIDATE: CANDIDATE, AGAIN: BASELINE}  # what is recorded: who is asked
TEXT, TOOLS, SCHEMA, IDS, DRAWN = "text", "tools", "schema", "ids", "drawn"
OTHERS = tuple(kind for kind in KINDS if kind not in {"tools", "json"})


class Form(NamedTuple):
    """One way to ask a canary of some `kinds`. `sort` says what is judged of it; `told`: logprobs are asked for.

    `like` is the form that has the same prompt, and so the same greedy answer, told with logprobs.
    """

    sort: str
    kinds: tuple[str, ...]
    like: str
    stream: bool = False
    n: int = 1
    told: bool = True


FORMS: Mapping[str, Form] = {
    "whole": Form(TEXT, OTHERS, "whole"),
    "stream": Form(TEXT, OTHERS, "whole", stream=True),
    "several": Form(TEXT, OTHERS, "whole", n=2, told=False),
    "tools": Form(TOOLS, ("tools",), "tools"),
    "tools stream": Form(TOOLS, ("tools",), "tools", stream=True, told=False),  # llama.cpp tells none there
    "named tool": Form(TOOLS, ("tools",), "named tool"),
    "schema": Form(SCHEMA, ("json",), "schema"),
    "schema stream": Form(SCHEMA, ("json",), "schema", stream=True),
    "ids": Form(IDS, OTHERS, "ids"),
    "drawn": Form(DRAWN, OTHERS, "drawn"),
}
CHAT = frozenset({TEXT, TOOLS, SCHEMA})  # sorts that are asked by messages


class Slot(NamedTuple):
    """What is asked: which canary, in which form, and whether others are under way with it (1) or not (0)."""

    canary: str
    form: str
    together: int

    def __str__(self) -> str:
        return f"{self.canary} ({self.form}{', in company' if self.together else ''})"


def slots(suite: Suite) -> list[Slot]:
    """All that is asked, in this order."""
    numbers = suite.chat
    named = {kind: [c.id for c in suite.of_kind(kind)[: numbers.prompts if numbers else 0]] for kind in KINDS}
    sampled = any(not cell.greedy for cell in suite.cells)
    return [
        Slot(name, form, together)
        for together in (0, 1)
        for form, how in FORMS.items()
        if how.sort != DRAWN or sampled
        for kind in how.kinds
        for name in named[kind]
    ]


def wrapped(canary: Canary) -> dict[str, Any]:
    """The schema that is asked for: the canary's, one level down, so that nothing but the grammar leads there."""
    return {
        "type": "object",
        "properties": {"answer": canary.schema},
        "required": ["answer"],
        "additionalProperties": False,
    }


def observe(context: Context, numbers: Chat) -> dict[str, Any]:
    """`refused`: where an arm takes an ask, but not with logprobs; `slots`: what came of each, in each turn.

    `drafted`: tokens that the candidate drafted over each form, None where it does not tell.
    """
    asked = slots(context.suite)
    canaries = {canary.id: canary for canary in context.suite.canaries}
    asks = {slot: _ask(context, canaries[slot.canary], slot.form, numbers) for slot in asked}
    firsts = {}
    for end, chat in (("chat", True), ("completions", False)):
        first = next((asks[slot] for slot in asked if _told(slot) and _by_chat(slot) == chat), None)
        firsts[end] = first
    refused: dict[str, dict[str, str | None]] = {end: {} for end in firsts}
    for arm in (CANDIDATE, BASELINE):
        for end, first in firsts.items():
            refused[end][arm] = _refused(_arm(context, arm), first) if first else None
    for slot in asked:
        if any(refused["chat" if _by_chat(slot) else "completions"].values()):
            asks[slot] = replace(asks[slot], logprobs=None)
    found, drafted = [slot._asdict() for slot in asked], dict[str, int | None]()
    for turn, who in TURNS.items():  # one after the other: of servers launched in turn, one is up at a time
        rows = iter(found)
        for group in _groups(asked, numbers.batch):
            came = _arm(context, who).converse([asks[slot] for slot in group])
            for row, heard in zip(islice(rows, len(group)), came.heard, strict=True):
                row[turn] = _heard(heard)
            if turn == CANDIDATE:
                form, more = group[0].form, came.drafted
                drafted[form] = None if more is None else more + (drafted.get(form) or 0)
    return {"refused": refused, "drafted": drafted, "slots": found}


def _groups(asked: Sequence[Slot], batch: int) -> list[list[Slot]]:
    """Slots that are asked at once: alone, or as many of one form as a batch holds."""
    groups: list[list[Slot]] = []
    for slot in asked:
        last = groups[-1] if groups else []
        if slot.together and last and (last[-1].form, last[-1].together) == (slot.form, 1) and len(last) < batch:
            last.append(slot)
        else:
            groups.append([slot])
    return groups


def _arm(context: Context, name: str) -> Telling:
    return cast("Telling", context.baseline if name == BASELINE else context.candidate)


def _by_chat(slot: Slot) -> bool:
    return FORMS[slot.form].sort in CHAT


def _told(slot: Slot) -> bool:
    return FORMS[slot.form].told


def _refused(arm: Telling, ask: Ask) -> str | None:
    """The words with which logprobs are refused; None where they are not, or where the ask is refused without them."""
    (heard,) = arm.converse([ask]).heard
    if heard.refused is None:
        return None
    (without,) = arm.converse([replace(ask, logprobs=None)]).heard
    return None if without.refused else heard.refused


def _ask(context: Context, canary: Canary, form: str, numbers: Chat) -> Ask:
    how = FORMS[form]
    warm = next((cell.temperature for cell in context.suite.cells if not cell.greedy), 0.0)
    sampling = Sampling(temperature=warm) if how.sort == DRAWN else GREEDY
    (request,) = context.requests([canary], tokens=numbers.tokens, sampling=sampling, label=f"chat/{form}")
    tools = tuple(_tool(tool) for tool in canary.tools) if how.sort == TOOLS else ()
    named = {"type": "function", "function": {"name": canary.calls[0]["name"]}} if form == "named tool" else None
    schema = {"name": "answer", "schema": wrapped(canary), "strict": True} if how.sort == SCHEMA else None
    return Ask(
        request=request,
        messages=canary.messages if how.sort in CHAT else (),
        stream=how.stream,
        n=how.n,
        logprobs=numbers.logprobs if how.told else None,
        tools=tools,
        tool_choice=named,
        response_format={"type": "json_schema", "json_schema": schema} if schema else None,
    )


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool["name"].replace("_", " "), "parameters": tool["parameters"]}
    return {"type": "function", "function": function}


def _heard(heard: Heard) -> dict[str, Any]:
    return {"refused": heard.refused, "answers": [_json(answer) for answer in heard.answers]}


def _json(answer: Answer) -> dict[str, Any]:
    """An answer as a document; a logprob that was not told is None."""
    usage = {key: answer.usage.get(key) for key in ("prompt_tokens", "completion_tokens")}
    return {
        "text": answer.generation.text,
        "finish": answer.ending,
        "calls": [[call["name"], call["arguments"]] for call in answer.tool_calls],
        "usage": {key: value if type(value) is int else None for key, value in usage.items()},
        "tokens": list(answer.generation.tokens),
        "told": [[row.token, row.logprob, [list(pair) for pair in row.best.items()]] for row in answer.logprobs or ()],
    }
