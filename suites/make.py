"""How the canary files of `core/v1` and `smoke/v1` were written: `python -m draftgate.suites.make OUT`.

The orders, field names and syllables are those the embedded family was trained on, because a small model can do no
others; the values come from this file's own seeds. The numbers in `suite.toml` are written by hand. Knows no model.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Line = dict[str, Any]

SYLLABLES = (  # noqa: SIM905 - as the corpus writes them
    "ba be bi bo bu da de di do du fa fe fi fo ga ge go ka ke ki ko ku la le li lo lu ma me mi mo mu "
    "na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo za ze zi zo"
).split()
SIGNS = "abcdefghkmnprstvwxyz0123456789"
FIELDS = ("name", "city", "color", "animal", "owner", "team", "street", "fruit", "tool", "title")
NUMBER_FIELDS = ("age", "count", "size", "year", "price", "level")
MANNERS = ("the small", "the tired", "the old", "a small", "a tired", "an old")
HEROES = ("fox", "girl", "man", "friend", "captain", "bird", "baker", "dog")
TRAINED_ON = ("the old man", "a small bird", "a tired dog")  # not new, so never a subject here
COPY_ORDERS = ("Repeat exactly: {}", "Copy this text: {}", "Say again, word for word: {}")
JSON_ORDERS = ("Write JSON with {}.", "Give a JSON object: {}.", "As JSON: {}.")
COUNT_ORDERS = ("Count from {} to {}.", "List the numbers from {} to {}.")
STORY_ORDERS = ("Tell a short story about {}.", "Write about {}.", "What happened to {}?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many canaries a suite has, and how long: ranges are least and most, both included.

    The ranges are chosen so that a right answer ends within the tokens of the suite's greedy cells: here a word is
    about 3.5 tokens, an identifier 6, a JSON field 9, a number 3.
    """

    seed: int
    each: int  # of each exact family: words, identifiers, counting
    objects: int
    stories: int
    words: tuple[int, int]
    identifiers: tuple[int, int]
    numbers: tuple[int, int]
    fields: tuple[int, int]


PLANS = {
    "core/v1": Plan(
        seed=7_310_471,
        each=16,
        objects=32,
        stories=16,
        words=(6, 14),
        identifiers=(6, 10),
        numbers=(6, 20),
        fields=(2, 6),
    ),
    "smoke/v1": Plan(
        seed=7_310_472, each=4, objects=8, stories=4, words=(4, 7), identifiers=(2, 4), numbers=(4, 10), fields=(1, 2)
    ),
}


def copies(plan: Plan, rng: Random, family: str) -> Iterator[Line]:
    """Text to be repeated: made-up words of two or three syllables, or identifiers in which nothing can be guessed."""
    least, most = plan.words if family == "words" else plan.identifiers
    for number in range(1, plan.each + 1):
        text = " ".join(_item(rng, family) for _ in range(rng.randint(least, most)))
        yield _exact(f"copy-{family}-{number:02}", rng.choice(COPY_ORDERS).format(text), text)


def counts(plan: Plan, rng: Random) -> Iterator[Line]:
    """Ranges of whole numbers below a hundred, each asked for once."""
    asked: set[tuple[int, int]] = set()
    while len(asked) < plan.each:
        first, length = rng.randint(1, 70), rng.randint(*plan.numbers)
        last = first + length - 1
        if (first, last) not in asked:
            asked.add((first, last))
            order = rng.choice(COUNT_ORDERS).format(first, last)
            yield _exact(f"count-{len(asked):02}", order, ", ".join(str(n) for n in range(first, last + 1)))


def objects(plan: Plan, rng: Random) -> Iterator[Line]:
    """Fields given as `key=value`, and the schema that only the object holding just these satisfies."""
    for number in range(1, plan.objects + 1):
        keys = _keys(rng.randint(*plan.fields), rng)
        value = {key: _item(rng, "words") if key in FIELDS else rng.randint(1, 999) for key in keys}
        given = ", ".join(f"{key}={item}" for key, item in value.items())
        order = rng.choice(JSON_ORDERS).format(given)
        yield _line(f"json-{number:02}", "json", order) | {"schema": strict_schema(value)}


def stories(plan: Plan, rng: Random) -> Iterator[Line]:
    """Orders for a story whose course is left to chance, each subject once."""
    everyone = [f"{manner} {hero}" for manner, hero in product(MANNERS, HEROES)]
    fresh = [who for who in everyone if who not in TRAINED_ON]
    for number, who in enumerate(rng.sample(fresh, plan.stories), start=1):
        yield _line(f"prose-{number:02}", "prose", rng.choice(STORY_ORDERS).format(who))


def strict_schema(value: dict[str, str | int]) -> dict[str, Any]:
    """A JSON schema that `value` satisfies and nothing else does."""
    types = {key: "string" if isinstance(item, str) else "integer" for key, item in value.items()}
    return {
        "type": "object",
        "properties": {key: {"type": types[key], "const": item} for key, item in value.items()},
        "required": list(value),
        "additionalProperties": False,
    }


def files(plan: Plan) -> dict[str, str]:
    """Text of each canary file, by name. Exact families take turns, so that a short run meets all three."""
    rng = Random(plan.seed)  # noqa: S311 - makes text, not secrets
    families = copies(plan, rng, "words"), copies(plan, rng, "ids"), counts(plan, rng)
    exact = [line for turn in zip(*map(list, families), strict=True) for line in turn]
    return {
        "exact.jsonl": _text(exact),
        "json.jsonl": _text(objects(plan, rng)),
        "prose.jsonl": _text(stories(plan, rng)),
    }


def make(out: Path) -> None:
    """Writes the canary files of every plan under `out`."""
    for name, plan in PLANS.items():
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files(plan).items():
            (folder / file).write_bytes(text.encode())


def _item(rng: Random, family: str) -> str:
    if family == "words":
        return "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3))))
    return "".join(rng.choice(SIGNS) for _ in range(6))


def _keys(count: int, rng: Random) -> list[str]:
    """As in training: one to four text fields, at most three number fields, in any order."""
    numbers = rng.randint(max(0, count - 4), min(3, count - 1))
    keys = rng.sample(FIELDS, count - numbers) + rng.sample(NUMBER_FIELDS, numbers)
    rng.shuffle(keys)
    return keys


def _line(name: str, kind: str, order: str) -> Line:
    return {"id": name, "kind": kind, "messages": [{"role": "user", "content": order}]}


def _exact(name: str, order: str, answer: str) -> Line:
    return _line(name, "exact", order) | {"expect": answer}


def _text(lines: Iterable[Line]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder that the suites are written under")
    make(parser.parse_args().out)
