"""Writes the canary files of the shipped suites: `python -m draftgate.engine.training.canaries OUT`.

Everything comes from the held-out side of the corpus: names, orders and compositions that training never saw. The
numbers in a suite's `suite.toml` are written by hand. Knows no model and no suite.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from .corpus import Draw, Sample
from .corpus.code import code
from .corpus.copying import COPY, copying, recall
from .corpus.dialogue import dialogue
from .corpus.objects import free_objects, objects
from .corpus.prose import prose
from .corpus.sample import turns
from .corpus.tools import tools

IDENTIFIERS = 8  # in each canary of that kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many canaries of each kind a suite has, and how long a right answer is, in characters, both ends included.

    The ranges are chosen so that right answers mostly take 15 to 50 tokens, and none more than the greedy cells allow:
    a token of the family is about 1.4 characters of a made-up name, 2.4 of JSON or code, 3 of a tool call.
    """

    seed: int
    each: int
    lengths: Mapping[str, tuple[int, int]]


PLANS = {
    "core/v1": Plan(
        seed=20_261_201,
        each=12,
        lengths={
            "exact": (5, 70),
            "identifiers": (0, 99),
            "json": (35, 115),
            "tools": (60, 180),
            "code": (40, 125),
            "multi_turn": (15, 90),
            "prose": (0, 999),
        },
    ),
    "smoke/v1": Plan(
        seed=20_261_202,
        each=3,
        lengths={
            "exact": (5, 40),
            "identifiers": (0, 99),
            "json": (20, 80),
            "tools": (60, 165),
            "code": (40, 100),
            "multi_turn": (10, 60),
            "prose": (0, 999),
        },
    ),
}


def _exact(draw: Draw, number: int) -> Sample:
    """Two copies to one thing looked up."""
    return (copying, copying, recall)[number % 3](draw)


def _identifiers(draw: Draw, _: int) -> Sample:
    text = " ".join(draw.distinct(draw.identifier, IDENTIFIERS))
    return Sample(messages=turns(draw.order(COPY).format(text), text))


def _json(draw: Draw, number: int) -> Sample:
    """Values given in three of four, left to choose in the fourth."""
    return (objects, objects, objects, free_objects)[number % 4](draw)


def _tools(draw: Draw, number: int) -> Sample:
    """One call in two of three, two in the third."""
    wanted = (1, 1, 2)[number % 3]
    while len((made := tools(draw)).calls) != wanted:
        pass
    return made


DRAWN: dict[str, Callable[[Draw, int], Sample]] = {
    "exact": _exact,
    "identifiers": _identifiers,
    "json": _json,
    "tools": _tools,
    "code": lambda draw, _: code(draw, shared=False),
    "multi_turn": lambda draw, _: dialogue(draw),
    "prose": lambda draw, _: prose(draw),
}
JUDGED_BY: dict[str, Callable[[Sample], dict[str, Any]]] = {
    "exact": lambda made: {"expect": made.answer},
    "identifiers": lambda made: {"expect": made.answer},
    "json": lambda made: {"schema": made.schema},
    "tools": lambda made: {"tools": made.tools, "calls": made.calls},
    "code": lambda made: {"asserts": made.asserts},
    "multi_turn": lambda made: {"expect": made.answer},
    "prose": lambda _: {},
}


def samples(plan: Plan, kind: str) -> Iterator[Sample]:
    """The plan's samples of a kind; no name of one occurs in another, so that each is new to whoever saw the rest."""
    rng, used = Random(f"{plan.seed} {kind}"), set[str]()
    least, most = plan.lengths[kind]
    for number in range(plan.each):
        while True:
            draw = Draw(rng, held=True)
            made = DRAWN[kind](draw, number)
            if least <= len(made.answer) <= most and used.isdisjoint(draw.names) and _telling(made):
                break
        used.update(draw.names)
        yield made


def files(plan: Plan) -> dict[str, str]:
    """Text of each canary file, by name."""
    return {f"{kind}.jsonl": "".join(map(_text, _lines(plan, kind))) for kind in DRAWN}


def make(out: Path) -> None:
    """Writes the canary files of every plan under `out`."""
    for name, plan in PLANS.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files(plan).items():
            (folder / file).write_bytes(text.encode())


def _telling(made: Sample) -> bool:
    """Whether code that always returns the same fails: not all of its asserts expect one value."""
    return not made.asserts or len({line.partition(" == ")[2] for line in made.asserts}) > 1


def _lines(plan: Plan, kind: str) -> Iterator[dict[str, Any]]:
    for number, made in enumerate(samples(plan, kind), start=1):
        name = f"{kind.replace('_', '-')}-{number:02}"
        yield {"id": name, "kind": kind, "messages": made.messages[:-1], **JUDGED_BY[kind](made)}


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder that the suites are written under")
    make(parser.parse_args().out)
