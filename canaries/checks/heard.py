"""Reads answers of chat and completions back: where two part, whether at a near tie, and how far logprobs differ.

Rows of logprobs are used where there is one for every token: a stream that tells some tokens' only cannot be aligned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from ...engine.sequences import shared_length
from ..observations.chat import AGAIN, FORMS, TURNS, Slot
from ..observations.pairs import BASELINE
from .base import Case
from .forking import noise_of

Token = int | str


class Row(NamedTuple):
    """What is told of one emitted token: its natural log probability (nan: none is told), and those of the best."""

    token: Token
    logprob: float
    best: Mapping[Token, float]

    @property
    def claims(self) -> bool:
        """Whether any value is told."""
        return bool(self.best) or not math.isnan(self.logprob)

    @property
    def gap(self) -> float:
        """Logits between the two best; nan where fewer are told."""
        first, second, *_ = *sorted(self.best.values(), reverse=True), math.nan, math.nan
        return first - second


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer. `finish` is the server's own word, `calls` are (name, arguments as text), `told` may have gaps.

    `tokens` are empty where their count is not the server's own: a stream may leave out ids of what no chunk shows.
    """

    text: str
    finish: str
    calls: tuple[tuple[str, str], ...]
    usage: Mapping[str, int | None]
    tokens: tuple[int, ...]
    told: tuple[Row, ...]

    @property
    def shown(self) -> bool:
        """Whether a caller has anything of it: text, or a call."""
        return bool(self.text or self.calls)

    @property
    def rows(self) -> tuple[Row, ...]:
        """A row for every token, but perhaps for the end of the sequence; none where some token has no row."""
        count = len(self.tokens) or self.usage["completion_tokens"]
        return self.told if count is None or len(self.told) in (count, count - 1) else ()

    @property
    def sequence(self) -> tuple[Token, ...]:
        """Its tokens, as ids or as they are named beside their logprobs; empty where they are not known."""
        return self.tokens or tuple(row.token for row in self.rows)

    @property
    def misnamed(self) -> bool:
        """Whether logprobs are told of other ids than were emitted."""
        pairs = zip(self.tokens, self.rows, strict=False)  # the end may have no row
        return any(isinstance(row.token, int) and row.token != token for token, row in pairs)


class Asked(NamedTuple):
    """One slot: by turn, the words with which it was refused, None where it was not, and its answers."""

    slot: Slot
    refused: Mapping[str, str | None]
    answers: Mapping[str, tuple[Said, ...]]


def read(observed: Mapping[str, Any], most: int) -> list[Asked]:
    """All slots of a `chat` observation. At most `most` best tokens are kept: some servers add the emitted one."""
    return [
        Asked(
            Slot(one["canary"], one["form"], one["together"]),
            {turn: one[turn]["refused"] for turn in TURNS},
            {turn: tuple(_said(answer, most) for answer in one[turn]["answers"]) for turn in TURNS},
        )
        for one in observed["slots"]
    ]


def _said(answer: Mapping[str, Any], most: int) -> Said:
    count, ids = answer["usage"]["completion_tokens"], answer["tokens"]
    return Said(
        text=answer["text"],
        finish=answer["finish"],
        calls=tuple((name, arguments) for name, arguments in answer["calls"]),
        usage=answer["usage"],
        tokens=tuple(ids) if count in (None, len(ids), len(ids) + 1) else (),
        told=tuple(Row(token, _number(value), _best(best, most)) for token, value, best in answer["told"]),
    )


def _best(best: Sequence[Sequence[Any]], most: int) -> dict[Token, float]:
    return {token: float(value) for token, value in sorted(best, key=lambda pair: -pair[1])[:most]}


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def spread(found: Sequence[Asked]) -> list[float]:
    """By ask, how far logprobs differ that plain decoding told at one place: again, and in company; the largest first.

    An ask of which nothing was told twice is left out.
    """
    alone = {one.slot: one for one in found if not one.slot.together}
    largest = []
    for one in found:
        others = [one.answers[AGAIN]]
        if one.slot.together and (same := alone.get(one.slot._replace(together=0))):
            others.append(same.answers[BASELINE])
        pairs = [pair for other in others for pair in zip(one.answers[BASELINE], other, strict=False)]  # or refused
        apart = [differ(a, b) for pair in pairs for _, a, b in places(*pair)]
        largest += [max(apart)] if apart else []
    return sorted(largest, reverse=True)


def limit(case: Case, found: Sequence[Asked]) -> float:
    """The logits that the measured noise explains: that of passes, or of told logprobs; NaN if not measured.

    Of the latter, the asks that differ most are left out: one at least, and the share of wrong ones that is to be seen.
    What plain decoding tells wildly now and then is no noise, and excuses nobody.
    """
    measured, moved, numbers = noise_of(case), spread(found), case.suite.chat
    wild = max(1, int(len(moved) * (numbers.told_effect if numbers else 0.0)))
    return math.nan if math.isnan(measured) else case.suite.noise.fork_multiple * max([measured, *moved[wild:]])


def wavering(case: Case, found: Sequence[Asked]) -> str:
    """Why plain decoding's own logprobs are no yardstick; empty where they keep to what is asked of the candidate."""
    moved = max(spread(found), default=0.0)
    if moved > case.suite.noise.unstable_above or moved > limit(case, found):
        return f"plain decoding's own logprobs differ by {moved:.2g} logits when asked again"
    return ""


def places(one: Said, other: Said) -> Iterator[tuple[int, Row, Row]]:
    """The places at which both answers go on from the same tokens and both tell something."""
    for at, (a, b) in enumerate(zip(one.rows, other.rows, strict=False)):
        if a.claims and b.claims:
            yield at, a, b
        if a.token != b.token:
            return


def differ(a: Row, b: Row) -> float:
    """How far two rows of one place contradict each other, in logits.

    A token that one list has and the other has not is at most as likely as the last one that the other lists.
    """
    gaps = [_apart(a.best[token], b.best[token]) for token in a.best.keys() & b.best.keys()]
    if a.token == b.token and not math.isnan(a.logprob + b.logprob):
        gaps.append(_apart(a.logprob, b.logprob))
    for one, other in ((a, b), (b, a)):
        if other.best:
            last = min(other.best.values())
            gaps += [
                _apart(value, last) for token, value in one.best.items() if token not in other.best and value > last
            ]
    return max(gaps, default=0.0)


def _apart(a: float, b: float) -> float:
    """The difference; none where float32, in which servers compute, cannot tell the two apart."""
    found = abs(a - b)
    return 0.0 if found <= np.spacing(np.float32(max(abs(a), abs(b), 1.0))) else found


class Fork(StrEnum):
    """What a difference between two answers to one prompt is."""

    TIED = "at a near tie"
    APART = "where plain decoding is sure"
    OPEN = "where too little is told to know"


def weigh(plain: Said, other: Said, like: Said | None, most: float) -> Fork:
    """Where `other` leaves plain decoding. `like` is plain decoding's answer to the same prompt with its logprobs told.

    Answers of the same tokens that differ do so for no tie.
    """
    mine, its = plain.sequence, other.sequence
    told = plain.rows
    if not told and like and (like.text, like.calls) == (plain.text, plain.calls):
        told = like.rows
    if mine and mine == its:
        return Fork.APART
    if not (mine and its):
        return Fork.APART if told and all(row.gap > most for row in told) else Fork.OPEN
    at = shared_length(mine, its)
    if at >= len(told):
        return Fork.OPEN
    return _tie(told[at], its[at] if at < len(its) else None, most)


def _tie(row: Row, token: Token | None, most: float) -> Fork:
    """Whether the token, None for an early end, is as good as the one that plain decoding emitted here."""
    if not row.best:
        return Fork.OPEN
    own = row.best.get(row.token, row.logprob)
    if token is None:
        behind = row.gap  # which of the listed ones is the end is not told
    elif token in row.best:
        behind = own - row.best[token]
    elif own - min(row.best.values()) > most:  # not listed, so no better than the last
        behind = own - min(row.best.values())
    else:
        behind = math.nan
    return Fork.OPEN if math.isnan(behind) else Fork.TIED if behind <= most else Fork.APART


def likes(found: Sequence[Asked]) -> dict[Slot, Said]:
    """Plain decoding's first answer in each slot that was answered, to be found by `like_of`."""
    return {one.slot: one.answers[BASELINE][0] for one in found if one.answers[BASELINE]}


def like_of(slot: Slot) -> Slot:
    """The slot with the same prompt whose answer is told with its logprobs."""
    return slot._replace(form=FORMS[slot.form].like)
