"""Logprobs: what the candidate tells of a token and of the best ones beside it is what plain decoding tells.

Held against each other at places before which both arms emitted the same tokens, within the measured noise. A place of
which the candidate tells nothing, or less than plain decoding, is no fault and no evidence: it is counted and told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...stats.design import rate_detectable, rate_draws
from ..contracts import Finding, Reason, Status
from ..observations.chat import CHAT, DRAWN, FORMS, Slot
from ..observations.pairs import BASELINE, CANDIDATE
from .base import Case, Certain, not_observed
from .heard import Asked, Row, differ, limit, places, read, wavering


class Told(NamedTuple):
    """One place at which both arms tell something, and how far they contradict each other, in logits."""

    slot: Slot
    at: int
    plain: Row
    other: Row
    apart: float

    @property
    def full(self) -> bool:
        """Whether the candidate tells what plain decoding tells here: the token's own value, and as many best ones."""
        valued = math.isnan(self.plain.logprob) or not math.isnan(self.other.logprob)
        return valued and len(self.other.best) >= len(self.plain.best)

    def __str__(self) -> str:
        return f"token {self.at} of {self.slot}: {_row(self.other)}, plain decoding {_row(self.plain)}"


class Logprobs(Certain):
    """Values and best tokens, where both arms tell them."""

    name = "logprobs"
    observes = ("chat", "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL for one place that differs beyond the noise; PASS needs as many as the suite's effect asks for."""
        numbers, observed = case.suite.chat, case.observed("chat")
        if numbers is None:
            return not_observed(self.name, case)
        found = read(observed, numbers.logprobs)
        most, compared = limit(case, found), _compared(found)
        bad = [one for one in compared if not one.apart <= most]
        misnamed = [one.slot for one in found if _misnamed(one, CANDIDATE) and not _misnamed(one, BASELINE)]
        plain, other = (_claims(found, turn) for turn in (BASELINE, CANDIDATE))
        full = sum(one.full for one in compared)
        short = rate_draws(numbers.told_effect, miss=case.design.miss) - full
        status, reason = Status.PASS, None
        summary = f"told of {len(compared)} places as plain decoding tells them, within {_logits(most)}"
        if lost := _lost(observed["refused"]):
            status, reason, summary = Status.FAIL, Reason.CORRECTNESS, lost
        elif shaken := wavering(case, found):
            status, reason, summary = Status.FAIL, Reason.BASELINE_UNSTABLE, shaken
        elif wrong := _wrong(misnamed, bad, len(compared), most):
            status, reason, summary = Status.FAIL, Reason.CORRECTNESS, wrong
        elif not plain:
            status, summary = Status.NOT_APPLICABLE, "plain decoding tells no logprobs"
        elif short > 0:
            status, reason = Status.INCONCLUSIVE, Reason.INCOMPLETE
            summary = f"{short} more places are needed at which both arms tell logprobs; {summary}"
        elif mute := _mute(found, compared):
            status, reason = Status.INCONCLUSIVE, Reason.INCOMPLETE
            summary = f"by {' and '.join(mute)} the candidate tells nowhere what plain decoding tells; {summary}"
        silent = _silent(other, plain) + _partly(len(compared) - full)
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
            summary=summary + silent,
            reproduce=tuple(dict.fromkeys(slot.canary for slot in (*misnamed, *(one.slot for one in bad)))),
            seen=_seen(full, most, case.design.miss),
            figures={
                "places": len(compared),
                "other": len(bad),
                "largest_logits": max((one.apart for one in compared), default=math.nan),
                "tolerance_logits": most,
                "told_by_baseline": plain,
                "told_by_candidate": other,
            },
        )


def _lost(refused: Mapping[str, Mapping[str, str | None]]) -> str:
    """Where the candidate alone refuses logprobs."""
    lost = [end for end, arms in refused.items() if arms[CANDIDATE] and not arms[BASELINE]]
    return f"the candidate refuses logprobs by {' and '.join(lost)}, plain decoding does not" if lost else ""


def _wrong(misnamed: Sequence[Slot], bad: Sequence[Told], count: int, most: float) -> str:
    """What is told otherwise."""
    if misnamed:
        return f"{len(misnamed)} asks are told logprobs of other tokens than were emitted, first {misnamed[0]}"
    return f"{len(bad)} of {count} places are told otherwise, by over {_logits(most)}, first {bad[0]}" if bad else ""


def _mute(found: Sequence[Asked], compared: Sequence[Told]) -> list[str]:
    """End points by which plain decoding tells logprobs, and the candidate none, or less at every place."""
    ends = {_end(one.slot) for one in found for said in one.answers[BASELINE] if any(row.claims for row in said.rows)}
    return sorted(ends - {_end(one.slot) for one in compared if one.full})


def _end(slot: Slot) -> str:
    return "chat" if FORMS[slot.form].sort in CHAT else "completions"


def _silent(other: int, plain: int) -> str:
    return f"; greedily, the candidate tells of {other} tokens, plain decoding of {plain}" if other < plain else ""


def _partly(places: int) -> str:
    return f"; at {places} places the candidate tells less than plain decoding, which is no evidence" if places else ""


def _compared(found: Sequence[Asked]) -> list[Told]:
    """Every place at which both arms tell something after the same tokens."""
    return [
        Told(one.slot, at, a, b, differ(a, b))
        for one in found
        for pair in zip(one.answers[BASELINE], one.answers[CANDIDATE], strict=False)  # a refusal has none
        for at, a, b in places(*pair)
    ]


def _misnamed(one: Asked, turn: str) -> bool:
    return any(said.misnamed for said in one.answers[turn])


def _claims(found: Sequence[Asked], turn: str) -> int:
    """Tokens of a turn's greedy answers of which something is told."""
    greedy = [one for one in found if FORMS[one.slot.form].sort != DRAWN]
    return sum(row.claims for one in greedy for said in one.answers[turn] for row in said.told)


def _seen(count: int, most: float, miss: float) -> str:
    return (
        f"1 told logprob in {1 / rate_detectable(count, miss=miss):.1f} that is off by {_logits(most)}" if count else ""
    )


def _logits(most: float) -> str:
    """The tolerance in words: without noise, numbers are held against each other as float32 tells them apart."""
    return f"{most:.2g} logits" if most else "the rounding of float32"


def _row(row: Row) -> str:
    """What is told of a token, in short."""
    best = ", ".join(f"{token!r} {value:.4f}" for token, value in [*row.best.items()][:2])
    return f"{row.token!r} {row.logprob:.4f} (best {best})"
