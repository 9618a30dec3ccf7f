"""Makes the text that the embedded family learns from: conversations of nine kinds, each with its right answer.

Every kind can be drawn from training's side or from the held-out side, which shares no name, order or composition
with it. Knows nothing about tokens or models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random

from .code import code
from .copying import copying, counting, recall
from .dialogue import dialogue
from .objects import free_objects, objects
from .prose import prose
from .sample import Message, Sample
from .tools import answered, tools
from .words import Draw, held_out

__all__ = ["KINDS", "Draw", "Message", "Sample", "conversations", "held_out", "sample"]

KINDS: dict[str, Callable[[Draw], Sample]] = {
    "copying": copying,
    "recall": recall,
    "counting": counting,
    "json": objects,
    "json_free": free_objects,
    "tools": tools,
    "tool_answers": answered,
    "code": code,
    "dialogue": dialogue,
    "prose": prose,
}


def sample(kind: str, rng: Random, *, held: bool = False) -> Sample:
    """One conversation of the kind, from training's side unless `held`."""
    return KINDS[kind](Draw(rng, held))


def conversations(rng: Random, shares: Callable[[], Mapping[str, float]]) -> Iterator[list[Message]]:
    """An endless stream of training's conversations; `shares` is asked before each how the kinds are mixed."""
    while True:
        weights = shares()
        kind = rng.choices(list(weights), list(weights.values()))[0]
        yield sample(kind, rng).messages
