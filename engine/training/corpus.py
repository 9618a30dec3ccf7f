"""Makes the text that the embedded family learns from.

Short conversations of four kinds: exact copying, JSON from given fields, counting, and freer prose. Words are built
from syllables, so that copying has to be learned as a skill rather than as a list. Knows nothing about tokens or
models.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random

Message = dict[str, str]

SYLLABLES = (  # noqa: SIM905 - a table of syllables reads better than a list
    "ba be bi bo bu da de di do du fa fe fi fo ga ge go ka ke ki ko ku la le li lo lu ma me mi mo mu "
    "na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo za ze zi zo"
).split()
FIELDS = ("name", "city", "color", "animal", "owner", "team", "street", "fruit", "tool", "title")
NUMBER_FIELDS = ("age", "count", "size", "year", "price", "level")
PEOPLE = ("the fox", "a girl", "the old man", "my friend", "the captain", "a small bird", "the baker", "a tired dog")
VERBS = ("walked to", "looked at", "dreamed of", "ran from", "painted", "waited near", "sang about", "found")
THINGS = (
    *("the river", "a red door", "the garden", "an empty house"),
    *("the moon", "a broken clock", "the market", "a letter"),
)
LINKS = ("Then", "Later", "After that", "In the evening", "Soon", "The next day")
COPY_ORDERS = ("Repeat exactly: {}", "Copy this text: {}", "Say again, word for word: {}")
JSON_ORDERS = ("Write JSON with {}.", "Give a JSON object: {}.", "As JSON: {}.")
COUNT_ORDERS = ("Count from {} to {}.", "List the numbers from {} to {}.")
STORY_ORDERS = ("Tell a short story about {}.", "Write about {}.", "What happened to {}?")


def word(rng: Random) -> str:
    """A made-up word of two or three syllables."""
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3))))


def identifier(rng: Random) -> str:
    """An opaque identifier such as `k7-4f20`: nothing in it can be guessed."""
    return "".join(rng.choice("abcdefghkmnprstvwxyz0123456789") for _ in range(6))


def copying(rng: Random) -> list[Message]:
    """An order to repeat some words and identifiers, and the repetition."""
    make = rng.choice((word, word, identifier))
    text = " ".join(make(rng) for _ in range(rng.randint(2, 16)))
    return _turns(rng.choice(COPY_ORDERS).format(text), text)


def json_object(rng: Random) -> list[Message]:
    """Fields given as `key=value`, and the JSON object that holds them."""
    keys = rng.sample(FIELDS, rng.randint(1, 4)) + rng.sample(NUMBER_FIELDS, rng.randint(0, 3))
    rng.shuffle(keys)
    value = {key: word(rng) if key in FIELDS else rng.randint(1, 999) for key in keys}
    given = ", ".join(f"{key}={item}" for key, item in value.items())
    return _turns(rng.choice(JSON_ORDERS).format(given), json.dumps(value))


def counting(rng: Random) -> list[Message]:
    """A range of whole numbers below a hundred, written out."""
    first = rng.randint(1, 70)
    last = first + rng.randint(3, 25)
    numbers = ", ".join(str(n) for n in range(first, last + 1))
    return _turns(rng.choice(COUNT_ORDERS).format(first, last), numbers)


def prose(rng: Random) -> list[Message]:
    """A few sentences whose course is left to chance: the uncertain part of the corpus."""
    who = rng.choice(PEOPLE)
    sentences = [f"{who} {rng.choice(VERBS)} {rng.choice(THINGS)}.".capitalize()]
    sentences += [
        f"{rng.choice(LINKS)} {rng.choice(PEOPLE)} {rng.choice(VERBS)} {rng.choice(THINGS)}."
        for _ in range(rng.randint(2, 7))
    ]
    return _turns(rng.choice(STORY_ORDERS).format(who), " ".join(sentences))


KINDS: dict[str, Callable[[Random], list[Message]]] = {
    "copying": copying,
    "json": json_object,
    "counting": counting,
    "prose": prose,
}
WEIGHTS = {"copying": 5, "json": 4, "counting": 1, "prose": 2}


def conversations(rng: Random) -> Iterator[list[Message]]:
    """An endless stream of conversations, kinds mixed by `WEIGHTS`."""
    names = list(KINDS)
    weights = [WEIGHTS[name] for name in names]
    while True:
        yield KINDS[rng.choices(names, weights)[0]](rng)


def _turns(question: str, answer: str) -> list[Message]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
