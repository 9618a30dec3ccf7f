"""Draws the names and orders that the corpus is made of, and keeps a fixed part of them out of training.

Names come from open vocabularies: compounds of common words, and made-up words of syllables. Whether a name or an
order is held out depends on its spelling alone (`held_out`), so that a suite can use what training never saw. Knows
nothing about tokens or models.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import TypeVar

T = TypeVar("T")

NAMES_HELD = 0.5  # share of names that training never sees
ORDERS_HELD = 0.2  # share of the orders, and of the compositions in code

ONSETS = "b d f g k l m n p r s t v z br dr kl st tr sh".split()  # noqa: SIM905
VOWELS = "aeiou"
CODAS = "knrsltm"
SIGNS = "abcdefghkmnprstvwxyz0123456789"
NOUNS = (  # noqa: SIM905 - a table of words reads better than a list
    "apple bag bank bell bird boat book bottle box branch bridge brush bus cake camp card cart castle cat chair city "
    "clock cloud coat coin cook corn crown cup desk dog door dream drum farm field fire fish flag flower forest fox "
    "garden gate glass goat guest hall hat hill horse house island jar key king kitchen ladder lake lamp leaf letter "
    "light lion list map market milk mill mirror moon mountain mouse night number ocean order owl paper park path "
    "picture pilot plant plate point pond queen rain ring river road rock roof room rope sail salt school score sea "
    "seed shelf ship shoe shop song spoon star stone storm street sugar table tail team tent ticket tower town train "
    "tree truck tunnel valley village wall watch wheel wind window wing winter wolf word yard"
).split()
QUALITIES = (  # noqa: SIM905
    "big small old young red blue green black white warm cold long short fast slow soft hard dry wet round flat "
    "deep high low new quiet loud bright dark full empty first last main left right top total inner outer"
).split()
VERBS = (  # noqa: SIM905
    "add ask book build buy call check clean close copy cut draw fetch fill find fix get give hide keep lift load "
    "lock mark measure mix move open order pack paint pick plan play print push read save search sell send set show "
    "sort start stop store take test track turn update visit wash weigh write"
).split()


@cache
def held_out(text: str, share: float = NAMES_HELD) -> bool:
    """Whether a name or an order is kept from training: decided by its SHA-256, the same for ever."""
    return _digest(text) < share * 2**32


def expand(*patterns: str) -> tuple[str, ...]:
    """Every order that the patterns stand for: `(a|b) c` stands for `a c` and `b c`."""
    return tuple(text for pattern in patterns for text in _expand(pattern))


@cache
def side(orders: tuple[str, ...], *, held: bool) -> tuple[str, ...]:
    """The held-out orders, or the others: a fifth by their SHA-256, at least one."""
    ranked = sorted(orders, key=_digest)
    first = max(1, round(ORDERS_HELD * len(orders)))
    return tuple(ranked[:first] if held else ranked[first:])


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def _expand(pattern: str) -> Iterator[str]:
    found = re.search(r"\(([^()]*\|[^()]*)\)", pattern)
    if found is None:
        yield pattern
        return
    for choice in found[1].split("|"):
        yield from _expand(pattern[: found.start()] + choice + pattern[found.end() :])


@dataclass(frozen=True, slots=True)
class Draw:
    """Chance for one conversation: everything it draws is from training's side, or everything from the held-out side.

    `names` fills with the names drawn.
    """

    rng: Random
    held: bool = False
    names: list[str] = field(default_factory=list)

    def of(self, choices: Sequence[T]) -> T:
        """One of the choices, whatever the side."""
        return self.rng.choice(choices)

    def some(self, choices: Sequence[T], least: int, most: int) -> list[T]:
        """Between `least` and `most` of the choices, in random order, none twice."""
        return self.rng.sample(choices, self.rng.randint(least, most))

    def chance(self, share: float) -> bool:
        """True with this probability."""
        return self.rng.random() < share

    def number(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return self.rng.randint(least, most)

    def order(self, orders: Sequence[str]) -> str:
        """One of the orders on this side."""
        return self.rng.choice(side(tuple(orders), held=self.held))

    def composed(self, make: Callable[[], T], key: Callable[[T], str], shared: Callable[[str], bool]) -> T:
        """Something put together by `make` whose key lies on this side, or is `shared` by both."""
        while True:
            made = make()
            if shared(key(made)) or held_out(key(made), ORDERS_HELD) is self.held:
                return made

    def word(self) -> str:
        """A made-up word, two syllables and a closing consonant, or three syllables."""
        return self._name(lambda: _word(self.rng))

    def person(self) -> str:
        """A made-up name with a capital."""
        return self._name(lambda: _word(self.rng).capitalize())

    def identifier(self) -> str:
        """Six letters or digits in which nothing can be guessed; sometimes with a dash."""
        return self._name(lambda: _identifier(self.rng))

    def key(self) -> str:
        """A name for a field or an argument: `old_river`, `ship_wheel` or a made-up word."""
        return self._name(lambda: _key(self.rng))

    def verb_noun(self) -> str:
        """A name for a tool or a function: `open_gate`, `mix_cold_milk`."""
        return self._name(lambda: _verb_noun(self.rng))

    def thing(self) -> str:
        """A thing to talk about: `green boat`, `bridge key`."""
        return self._name(lambda: _thing(self.rng))

    def distinct(self, make: Callable[[], str], count: int) -> list[str]:
        """So many names, none twice."""
        names: dict[str, None] = {}
        while len(names) < count:
            names[make()] = None
        return list(names)

    def _name(self, make: Callable[[], str]) -> str:
        while True:
            name = make()
            if held_out(name.lower()) is self.held:
                self.names.append(name)
                return name


def _word(rng: Random) -> str:
    syllables = rng.choice((2, 2, 3))
    body = "".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(syllables))
    return body + rng.choice(CODAS) if syllables == 2 else body  # noqa: PLR2004


def _identifier(rng: Random) -> str:
    signs = "".join(rng.choice(SIGNS) for _ in range(6))
    return f"{signs[:2]}-{signs[2:]}" if rng.random() < 0.3 else signs  # noqa: PLR2004


def _key(rng: Random) -> str:
    first = rng.choice((QUALITIES, NOUNS, NOUNS))
    return rng.choice((f"{rng.choice(first)}_{rng.choice(NOUNS)}", _word(rng)))


def _verb_noun(rng: Random) -> str:
    middle = rng.choice(("", "", f"{rng.choice(QUALITIES)}_", f"{_word(rng)}_"))
    return f"{rng.choice(VERBS)}_{middle}{rng.choice(NOUNS)}"


def _thing(rng: Random) -> str:
    return f"{rng.choice((*QUALITIES, *NOUNS))} {rng.choice(NOUNS)}"
