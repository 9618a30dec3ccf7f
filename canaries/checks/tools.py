"""Tool calls as text: one `<tool_call>{"name": ..., "arguments": {...}}</tool_call>` a line, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...suites.suite import Canary
from .flaws import Flaw, Flawed, NotStrict, document, satisfies

OPEN, CLOSE = "<tool_call>", "</tool_call>"


def flaw_of_calls(canary: Canary, text: str) -> Flawed | None:
    """The first thing by which the answer is not the calls that the canary asks for, in their order."""
    try:
        calls = [_call(line) for line in text.split("\n")]
    except NotStrict as error:
        return Flawed(error.flaw)
    if [call["name"] for call in calls] != [wanted["name"] for wanted in canary.calls]:
        offered = {tool["name"] for tool in canary.tools}
        unknown = any(call["name"] not in offered for call in calls)
        return Flawed(Flaw.UNKNOWN_TOOL if unknown else Flaw.OTHER_CALLS)
    try:
        return _flaw_of_arguments(canary, calls)
    except NotStrict as error:
        return Flawed(error.flaw)


def _flaw_of_arguments(canary: Canary, calls: Sequence[Mapping[str, Any]]) -> Flawed | None:
    """The first call whose arguments are not what the canary asks for. Raises NotStrict."""
    parameters = {tool["name"]: tool["parameters"] for tool in canary.tools}
    for call, wanted in zip(calls, canary.calls, strict=True):
        if not satisfies(call["arguments"], parameters[call["name"]]):
            return Flawed(Flaw.WRONG_ARGUMENTS, call["name"])
        if not satisfies(call["arguments"], wanted["arguments"]):
            return Flawed(Flaw.OTHER_ARGUMENTS, call["name"])
    return None


def _call(line: str) -> Mapping[str, Any]:
    """The call on a line. Raises NotStrict."""
    if not (line.startswith(OPEN) and line.endswith(CLOSE)):
        raise NotStrict(Flaw.NOT_A_CALL)
    call = document(line[len(OPEN) : -len(CLOSE)])
    if not isinstance(call, dict) or call.keys() != {"name", "arguments"}:
        raise NotStrict(Flaw.NOT_A_CALL)
    if not isinstance(call["name"], str) or not isinstance(call["arguments"], dict):
        raise NotStrict(Flaw.NOT_A_CALL)
    return call
