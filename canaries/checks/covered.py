"""Whether there is, for every answer that must be replayed, a replay of every token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..observations.answers import fork

REPLAYED = ("margin", "gap", "below", "prob", "outside")


def answered(variant: Mapping[str, Any], plain: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a variant answered what plain decoding did, in its order, and has a replay of each fork and no other."""
    answers = {g["name"]: tuple(g["tokens"]) for g in variant["generations"]}
    forked = {name: tokens for name, tokens in answers.items() if fork(name, "", plain.get(name, ()), tokens)}
    return (
        list(answers) == list(plain)
        and len(answers) == len(variant["generations"])
        and set(forked) == set(variant["replays"])
        and cover([variant["replays"][name] for name in forked], list(forked.values()))
    )


def cover(found: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[int]]) -> bool:
    """Whether there is a replay for each answer and, in it, a number for each token."""
    return len(found) == len(answers) and all(
        len(replay.get(field, ())) == len(tokens)
        for replay, tokens in zip(found, answers, strict=True)
        for field in REPLAYED
    )
