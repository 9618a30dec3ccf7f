"""Records of one greedy cell that asks canaries of any kind, with the answers that a test gives to both arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import observed

from draftgate.canaries.contracts import Finding
from draftgate.suites.suite import Canary, Cell, Suite

ASK = ({"role": "user", "content": "Say a."},)
TOOLS = (
    {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    },
    {"name": "now", "parameters": {"type": "object", "additionalProperties": False}},
)
ADD = {"name": "add", "arguments": {"properties": {"a": {"const": 1}, "b": {"const": 2}}}}
NOW = {"name": "now", "arguments": {}}
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
CALL_NOW = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
PROGRAM = "def f(x):\n    return 2 * x\n"
IDS = "a1 b2 c3 d4 e5 f6 g7 h8"
EXAMPLES = {  # what is asked of each kind, and a right answer
    "exact": ({"expect": "a b"}, "a b"),
    "identifiers": ({"expect": IDS}, IDS),
    "json": ({"schema": {"properties": {"n": {"type": "number"}}}}, '{"n": 1}'),
    "tools": ({"tools": TOOLS, "calls": (ADD, NOW)}, f"{CALL}\n{CALL_NOW}"),
    "code": ({"asserts": ("assert f(1) == 2", "assert f('ab') == 'abab'")}, PROGRAM),
    "multi_turn": ({"expect": "kosi"}, "kosi"),
}


def canary(kind: str, number: int = 1) -> Canary:
    """The example of a kind."""
    return Canary(id=f"{kind.replace('_', '-')}-{number}", kind=kind, messages=ASK, **EXAMPLES[kind][0])


def right(kind: str) -> str:
    """A right answer to the example."""
    return EXAMPLES[kind][1]


def suite(kind: str, asked: int, repeats: int = 1) -> Suite:
    """So many canaries of one kind in one greedy cell."""
    cell = Cell(name="greedy", temperature=0.0, batch=1, prompts=asked, tokens=20, repeats=repeats)
    canaries = tuple(canary(kind, number + 1) for number in range(asked))
    return replace(observed.suite(), canaries=canaries, cells=(cell,))


def judged(
    check: str, kind: str, baseline: Sequence[str], candidate: Sequence[str], *, finish: str = "eos", repeats: int = 1
) -> Finding:
    """What a check says where the arms gave these answers, one a canary; `finish` is the candidate's."""
    chosen = suite(kind, len(baseline), repeats)
    groups = []
    for asked, plain, other in zip(chosen.canaries, baseline, candidate, strict=True):
        runs = []
        for repeat in range(repeats):
            runs += [run("baseline", asked.id, plain, "eos", repeat), run("candidate", asked.id, other, finish, repeat)]
        groups.append({"canaries": [asked.id], "runs": runs})
    return observed.judged(check, {"greedy/pairs": {"groups": groups}}, "greedy", of=chosen)


def run(arm: str, name: str, text: str, finish: str, repeat: int) -> dict[str, Any]:
    """One arm's answer to one canary."""
    answer = observed.generation(name, kept=None if arm == "baseline" else (2, 0, 1))
    return observed.run(arm, repeat, [answer | {"text": text, "finish": finish}])
