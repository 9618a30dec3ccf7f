"""Short stories whose course is left to chance: the uncertain part of the corpus."""

from __future__ import annotations

from .sample import Sample, turns
from .words import NOUNS, QUALITIES, Draw, expand

ORDERS = expand(
    "(Tell|Write|Invent|Make up) (a|some) (short story|story|tale) about {}.",
    "(What happened to|Write about|Tell me about|Describe the day of) {}(?|.)",
    "(Once|Today|One day) {} (went out|came home|woke up). (Go on|Continue|What then)(?|.)",
)
MANNERS = ("", "", "", "You write short stories.", "Write as for a child.", "You are a poet.", "Be brief.")
LINKS = ("Then", "Later", "After that", "In the evening", "Soon", "The next day", "At noon", "But", "So", "At last")
ACTS = (
    *("walked to", "looked at", "dreamed of", "ran from", "painted", "waited near", "sang about", "found", "lost"),
    *("remembered", "climbed over", "hid behind", "asked about", "talked of", "slept beside", "opened", "closed"),
    *("repaired", "sold", "bought", "watched", "forgot"),
)
MOODS = "happy sad tired proud hungry quiet afraid brave calm angry curious late alone".split()  # noqa: SIM905
WHERES = ("near the", "behind the", "under the", "in the", "beside the", "far from the", "on the", "before the")


def prose(draw: Draw) -> Sample:
    """Three to seven sentences about somebody the order names."""
    who = draw.person() if draw.chance(0.5) else f"the {draw.of(QUALITIES)} {draw.of(NOUNS)}"
    friend = ""
    if draw.chance(0.3):
        friend = draw.person() if draw.chance(0.5) else f"a {draw.of(NOUNS)}"
    named = f"{who} and {friend}" if friend else who
    sentences = [_sentence(draw, who, friend, first=place == 0) for place in range(draw.number(3, 6))]
    messages = turns(draw.order(ORDERS).format(named), " ".join(sentences), system=draw.of(MANNERS))
    return Sample(messages=messages, free=True)


def _sentence(draw: Draw, who: str, friend: str, *, first: bool) -> str:
    subject = who if first else draw.of((who, who, "the " + draw.of(NOUNS), friend or who))
    where = f"{draw.of(WHERES)} {draw.of(NOUNS)}"
    text = draw.of(
        (
            f"{subject} {draw.of(ACTS)} {_thing(draw)}",
            f"{subject} {draw.of(ACTS)} {_thing(draw)} {where}",
            f"{subject} was {draw.of(MOODS)} and {draw.of(ACTS)} {_thing(draw)}",
            f"{where} there was {_thing(draw)}",
        )
    )
    if not first and draw.chance(0.5):
        text = f"{draw.of(LINKS)} {text}"
    return text[0].upper() + text[1:] + "."


def _thing(draw: Draw) -> str:
    quality = f"{draw.of(QUALITIES)} " if draw.chance(0.5) else ""
    return f"{draw.of(('a', 'the'))} {quality}{draw.of(NOUNS)}"
