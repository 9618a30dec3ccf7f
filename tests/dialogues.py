"""A suite of dialogues for the embedded model: what a session sees, in seconds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import observed

from draftgate.suites import loader
from draftgate.suites.suite import Canary, Conversation, Suite

NUMBERS = Conversation(prompts=4, turns=3, tokens=24, effect=0.6)
TALKS = (
    ("Copy this text: bade mikasonu", "Count from 7 to 12.", "Copy this text: lipo savu"),
    ("My word is kosi.", "Say hello.", "What is my word?"),
    ("As JSON: name=kosi, age=41.", "Repeat exactly: zome", "Count from 3 to 9."),
    ("Tell a short story about the old dog.", "Write about a fox.", "What happened to the girl?"),
)
SETTINGS = """
name = "mine"
version = "v1"
purpose = "Sessions."
[design]
false_alarm = 1e-6
miss = 1e-3
law_effect = 0.06
own_batch_effect = 0.5
pit_effect = 0.22
token_fault_rate = 0.2
acceptance_effect = 0.06
[noise]
fork_multiple = 8
unstable_above = 0.05
widths = [5]
[exercise]
proposed = 1
accepted = 1
rejected = 1
full = 1
[strike_out]
least_share = 0.5
[speed]
confidence = 0.95
resamples = 200
[knobs]
draft_lengths = [4]
prompts = 1
tokens = 8
[synthetic]
drafters = ["oracle", "adversary"]
prompts = 1
tokens = 8
[law]
draft_length = 1
vocabulary = 3
batch = 500
[conversation]
prompts = 4
turns = 3
tokens = 24
effect = 0.6
[required.reference]
greedy = ["exact_tokens", "conversation", "noise"]
sampled = ["law"]
[[cells]]
name = "greedy-1"
temperature = 0
batch = 1
prompts = 6
tokens = 24
repeats = 1
"""


def canary(number: int, turns: tuple[str, ...]) -> Canary:
    """A dialogue of these user turns."""
    messages = [
        message
        for words in turns
        for message in ({"role": "user", "content": words}, {"role": "assistant", "content": "x"})
    ]
    return Canary(id=f"multi-turn-{number}", kind="multi_turn", messages=tuple(messages[:-1]), expect="x")


TOKENS = (*observed.ANSWER, observed.EOS)
CANARIES = tuple(canary(number, turns) for number, turns in enumerate(TALKS, start=1))


def suite() -> Suite:
    """Smoke's cells and numbers, these dialogues beside its other canaries."""
    smoke = loader.load("smoke")
    others = tuple(one for one in smoke.canaries if one.kind != "multi_turn")
    return replace(smoke, canaries=(*others, *CANARIES), conversation=NUMBERS)


def folder(place: Path) -> Path:
    """A small suite as a frozen folder: one greedy cell, which requires that sessions are right."""
    made = place / "mine" / "v1"
    made.mkdir(parents=True)
    talks = [{"id": c.id, "kind": c.kind, "messages": list(c.messages), "expect": c.expect} for c in CANARIES]
    prose = [
        {"id": f"prose-{n}", "kind": "prose", "messages": [{"role": "user", "content": words}]}
        for n, (words, *_) in enumerate(TALKS)
    ]
    for kind, lines in (("multi_turn", talks), ("prose", prose)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (made / f"{kind}.jsonl").write_text(text, encoding="utf-8")
    (made / "suite.toml").write_text(SETTINGS.lstrip(), encoding="utf-8")
    loader.freeze(made)
    return made


def turn(
    name: str, kept: int, tokens: Sequence[int] = TOKENS, margin: Sequence[float] | None = None, **answer: Any
) -> dict[str, Any]:
    """One recorded turn, its prompt nine tokens longer than what was kept; the live answer changed as told."""
    live = observed.generation(name, tokens) | answer
    replay = None if margin is None else observed.replay(len(tokens), margin=margin)
    return {
        "prompt": kept + 9,
        "kept": kept,
        "live": live,
        "fresh": observed.generation(name, TOKENS, kept=None),
        "replay": replay,
    }


def played(**changed: Any) -> dict[str, Any]:
    """A recorded conversation. Four dialogues of three turns; the last turn of the last one is changed."""
    found = [
        {"canary": canary.id, "turns": [turn(f"{canary.id}/{n}", 20 * (n - 1)) for n in (1, 2, 3)]}
        for canary in CANARIES
    ]
    if changed:
        found[-1]["turns"][-1] = turn(f"{CANARIES[-1].id}/3", 40, **changed)
    return {"dialogues": found}
