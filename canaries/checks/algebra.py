"""Do the engine's own counts add up? emitted = prefill + sum over rounds of (accepted + 1) - cut, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...engine.request import Generation
from ..contracts import Finding, Reason, Status
from ..observations.answers import by_arm
from ..observations.pairs import CANDIDATE
from .base import Case, Certain, not_observed
from .counted import Window, windows


class Algebra(Certain):
    """Tokens, rounds, arrivals and finish reasons of every candidate answer agree."""

    name = "algebra"
    observes = ("pairs",)

    def judge(self, case: Case) -> Finding:
        """FAIL for one answer whose counts do not add up."""
        pairs = case.observed("pairs")
        answers = by_arm(pairs, "candidate") if pairs else []
        if not answers:
            return not_observed(self.name, case)
        wrong = {
            a.canary: broken
            for a in answers
            if (broken := complaint(a.generation, case.draft_length, case.cell.tokens, case.header["eos"]))
        }
        wrong |= {
            window.canaries[0]: broken
            for window in windows(pairs, CANDIDATE)
            if (broken := miscounted(window, case.draft_length))
        }
        first = next(iter(wrong.items()), None)
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if wrong else Status.PASS,
            reason=Reason.METRICS if wrong else None,
            summary=f"{first[0]}: {first[1]}" if first else f"{len(answers)} answers add up",
            reproduce=tuple(wrong),
        )


def complaint(
    generation: Generation, draft_length: int, limit: int, eos: Sequence[int], *, stops: bool = False
) -> str | None:
    """The first identity that does not hold, in words; None where all do. `stops`: a stop string was asked for."""
    rounds, tokens = generation.rounds, len(generation.tokens)
    told = bool(rounds) or generation.prefill > 0  # a server tells neither
    emitted = generation.prefill + sum(r.emitted for r in rounds)
    times = [arrival.seconds for arrival in generation.arrivals]
    identities = {
        f"{tokens} tokens, but prefill and rounds say {emitted}": tokens == emitted or not draft_length or not told,
        f"prefill gave {generation.prefill} tokens": generation.prefill in (0, 1),
        "a round emitted other than accepted + 1 - cut": all(r.emitted == r.accepted + 1 - r.cut for r in rounds),
        "a round emitted nothing, or cut fewer than no tokens": all(r.emitted > 0 and r.cut >= 0 for r in rounds),
        "a round accepted more than it drafted": all(0 <= r.accepted <= r.drafted for r in rounds),
        f"a round drafted more than {draft_length}": all(r.drafted <= draft_length for r in rounds),
        "tokens were cut before the last round": all(r.cut == 0 for r in rounds[:-1]),
        f"{tokens} tokens, but the stream carried {sum(a.tokens for a in generation.arrivals)}": tokens
        == sum(a.tokens for a in generation.arrivals),
        "the stream runs backwards": all(a <= b for a, b in pairwise(times)),
        f"{tokens} tokens exceed the limit of {limit}": 0 < tokens <= limit,
        "tokens follow the end of the sequence": not set(eos) & set(generation.tokens[:-1]),
        f"finish is length, but {tokens} of {limit} tokens came": generation.finish != "length" or tokens == limit,
        "finish is stop, but no stop string was asked for": stops or generation.finish != "stop",
        f"finish is {generation.finish}, but the last token says otherwise": (generation.finish == "eos")
        == bool(set(eos) & set(generation.tokens[-1:])),
    }
    return next((words for words, holds in identities.items() if not holds), None)


def miscounted(window: Window, draft_length: int) -> str | None:
    """The first of a window's counts that the others, or the tokens that came, do not allow; None where all fit.

    An answer's first token, and one a round, are no drafts. A round may draft, and keep, more than is emitted: what
    follows an end or the limit is cut.
    """
    rounds, drafted, accepted, emitted = window.rounds, window.drafted, window.accepted, window.emitted
    identities = {
        f"{window.tokens} tokens came, and {emitted} were counted": emitted in (None, window.tokens),
        f"{accepted} drafts kept of {drafted}": None in (drafted, accepted) or accepted <= drafted,  # type: ignore[operator]
        f"{drafted} drafts in {rounds} rounds of at most {draft_length}": None in (drafted, rounds)
        or drafted <= rounds * draft_length,  # type: ignore[operator]
        f"{accepted} drafts kept of {window.tokens} tokens": accepted is None
        or accepted <= window.tokens + len(window.canaries) * draft_length,
        "drafts kept by position add up to another number": not window.by_position
        or sum(window.by_position) == accepted,
        "a later draft was kept oftener than the one before it": all(a >= b for a, b in pairwise(window.by_position)),
    }
    return next((words for words, holds in identities.items() if not holds), None)
