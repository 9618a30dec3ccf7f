"""Tool calls: a list of tools in the system prompt, a wish, and the call or the two calls that fulfil it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from .objects import Field, field, only, shown, strict
from .sample import Sample, turns
from .words import Draw, expand

LISTS = expand("(Tools|You have these tools|You can call|Functions)(:|, one a line:)\n{}")
WISHES = expand(
    "(Please |Now |Could you |){verb} the {noun}(:| with| using| where) {facts}.",
    "(Call|Use|Run|Start) {name}(:| with| using| where) {facts}.",
    "(With|Given|For) {facts}, (please |){verb} the {noun}.",
    "(I want to|I need to|Help me) {verb} the {noun}(:| with| where) {facts}.",
)
BOTH = expand("{} (Then|And then|After that|Next): {}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A name `verb_noun` and arguments with values for one call."""

    name: str
    arguments: list[Field]

    def signature(self) -> str:
        """One line of the list of tools."""
        return f"{self.name}({', '.join(f'{a.name}: {_kind(a)}' for a in self.arguments)})"

    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments, as far as the signature tells it."""
        return strict([replace(a, schema={"type": _kind(a)}) for a in self.arguments])

    def call(self) -> str:
        """The call as the assistant writes it."""
        document = {"name": self.name, "arguments": {a.name: a.value for a in self.arguments}}
        return f"<tool_call>{json.dumps(document)}</tool_call>"


def tools(draw: Draw) -> Sample:
    """One call, or two in a row, of tools among one to four."""
    listed = [_tool(draw, name) for name in draw.distinct(draw.verb_noun, draw.of((1, 2, 2, 3, 3, 4)))]
    system = draw.order(LISTS).format("\n".join(tool.signature() for tool in listed))
    wanted = draw.some(listed, 1, min(2, len(listed)))
    wishes = [_wish(draw, tool) for tool in wanted]
    order = draw.order(BOTH).format(*wishes) if len(wanted) > 1 else wishes[0]
    return Sample(
        messages=turns(order, "\n".join(tool.call() for tool in wanted), system=system),
        tools=tuple({"name": tool.name, "parameters": tool.parameters()} for tool in listed),
        calls=tuple({"name": tool.name, "arguments": only(tool.arguments)} for tool in wanted),
    )


def answered(draw: Draw) -> Sample:
    """A call, what the tool answered, and the assistant's sentence about it."""
    tool = _tool(draw, draw.verb_noun())
    system = draw.order(LISTS).format(tool.signature())
    result = draw.of((draw.word(), draw.identifier(), str(draw.number(0, 999))))
    messages = turns(_wish(draw, tool), tool.call(), system=system)
    messages.append({"role": "tool", "content": json.dumps({"result": result})})
    messages.append({"role": "assistant", "content": f"The result is {result}."})
    return Sample(messages=messages)


def parse_calls(text: str) -> list[Any] | None:
    """The calls in an answer, None where it is anything but calls, one a line."""
    calls = []
    for line in text.split("\n"):
        if not (line.startswith("<tool_call>") and line.endswith("</tool_call>")):
            return None
        try:
            calls.append(json.loads(line.removeprefix("<tool_call>").removesuffix("</tool_call>")))
        except ValueError:
            return None
    return calls


def _tool(draw: Draw, name: str) -> Tool:
    names = draw.distinct(draw.key, draw.of((1, 1, 2, 2, 3)))
    return Tool(name, [field(draw, argument, free=True) for argument in names])


def _wish(draw: Draw, tool: Tool) -> str:
    verb, _, noun = tool.name.partition("_")
    joint = draw.of((" is ", "=", ": ", " "))
    facts = [f"{a.name}{joint}{shown(a.value)}" for a in tool.arguments]
    if draw.chance(0.4):
        draw.rng.shuffle(facts)
    wish = draw.order(WISHES).format(verb=verb, noun=noun.replace("_", " "), name=tool.name, facts=", ".join(facts))
    return wish[0].upper() + wish[1:]


def _kind(argument: Field) -> str:
    return str(argument.schema.get("type", "string"))
