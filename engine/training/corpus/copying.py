"""Copying, looking up, counting and small sums: answers of which nothing is left to choose."""

from __future__ import annotations

from .sample import Sample, turns
from .words import Draw, expand

COPY = expand(
    "(Repeat|Copy|Echo|Write again)( exactly| word for word| unchanged|): {}",
    "(Repeat|Copy|Echo) (this text|these words|this line|what follows)( exactly|): {}",
    "{} - (repeat|copy|echo) (that|this)( exactly|).",
)
LOOK_UP = expand(
    "(Given|Notes|Table|List): {}. (What is|Give|Find|Tell me) {}(?|.)",
    "{}. (What is|Which value has|What stands at|Give the value of) {}(?|.)",
)
PLACE = expand("(Words|Items|List|Given): {}. (Which is|Give|Say|What is|Find|Tell me) the {}( one| item|)(?|.)")
COUNT = expand(
    "(Count|List the numbers|Write the numbers|Say all numbers) from {} to {}.",
    "(Count|List|Numbers|Count up), (starting at|beginning with|from) {}, (up to|ending with|until) {}.",
)
SUMS = expand("(What is|Compute|Work out|Give|How much is) {}(?|.)")
PLACES = ("first", "second", "third", "fourth", "fifth", "last")


def copying(draw: Draw) -> Sample:
    """Words, identifiers or names to be repeated."""
    make = draw.of((draw.word, draw.word, draw.identifier, draw.identifier, draw.key, draw.person))
    most = 8 if make == draw.identifier else 12
    text = " ".join(make() for _ in range(draw.number(1, most)))
    return Sample(messages=turns(draw.order(COPY).format(text), text))


def recall(draw: Draw) -> Sample:
    """A table of names and values, and one value asked for; or a list, and the item at one place."""
    make = draw.of((draw.word, draw.identifier, draw.person))
    if draw.chance(0.3):
        return _place(draw, [make() for _ in range(draw.number(2, 5))])
    keys = draw.distinct(draw.of((draw.key, draw.word, draw.person)), draw.number(2, 6))
    joint = draw.of((" is ", ": ", " = "))
    table = {key: make() for key in keys}
    given = ", ".join(f"{key}{joint}{value}" for key, value in table.items())
    asked = draw.of(keys)
    return Sample(messages=turns(draw.order(LOOK_UP).format(given, asked), table[asked]))


def counting(draw: Draw) -> Sample:
    """A range of whole numbers written out, or a sum of two small numbers."""
    if draw.chance(0.4):
        return _sum(draw)
    first = draw.number(1, 80)
    last = first + draw.number(2, 15)
    numbers = ", ".join(str(n) for n in range(first, last + 1))
    return Sample(messages=turns(draw.order(COUNT).format(first, last), numbers))


def _place(draw: Draw, items: list[str]) -> Sample:
    place = draw.number(0, len(items) - 1)
    name = "last" if place == len(items) - 1 and draw.chance(0.5) else PLACES[place]
    return Sample(messages=turns(draw.order(PLACE).format(", ".join(items), name), items[place]))


def _sum(draw: Draw) -> Sample:
    a, b = draw.number(0, 20), draw.number(0, 9)
    text, value = (f"{a} + {b}", a + b) if draw.chance(0.6) else (f"{a + b} - {b}", a)
    return Sample(messages=turns(draw.order(SUMS).format(text), str(value)))
