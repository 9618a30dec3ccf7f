"""Does a session remember rightly? Answers from a live cache against answers from a fresh one, on the same text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...engine.request import Generation
from ...stats.design import rate_detectable, rate_draws
from ..contracts import Finding, Reason, Status
from ..observations.answers import Fork, fork, shown
from .algebra import complaint
from .base import Case, Certain, not_observed
from .forking import explained, tolerance

NEVER_LIVE = (
    "no answer began from a live cache: it keeps none, or the model's chat template words earlier turns otherwise than "
    "they were said, so that nothing can be kept; choose a suite that does not require this of such a model"
)


class Turn(NamedTuple):
    """One answer of a dialogue, live and fresh. `resumed`: the entries kept reach into the answer before it."""

    name: str
    kept: int
    resumed: bool
    live: Generation
    fresh: Generation
    replay: Mapping[str, Any] | None


class Conversation(Certain):
    """Greedy answers of the candidate's live sessions are plain decoding's from a fresh prefill, near ties aside."""

    name = "conversation"
    observes = ("conversation", "replays")

    def judge(self, case: Case) -> Finding:
        """FAIL for an answer that the live cache changed or that miscounts; PASS needs enough that began from one."""
        if case.suite.conversation is None:
            return not_observed(self.name, case)
        played = list(turns(case.observed("conversation")))
        limit, live = tolerance(case), [turn for turn in played if turn.resumed]
        found = [(turn, forked) for turn in played if (forked := differs(turn))]
        bad = [turn for turn, forked in found if not explained(forked, turn.fresh.tokens, turn.replay or {}, limit)]
        bad += [turn for turn in played if not differs(turn) and shown(turn.live) != shown(turn.fresh)]
        miscounts = (_miscount(case, turn, case.suite.conversation.tokens) for turn in played)
        wrong = next(filter(None, miscounts), None)
        detectable = rate_detectable(len(live), miss=case.suite.design.miss)
        effect = case.suite.conversation.effect
        short = max(0, rate_draws(effect, miss=case.suite.design.miss) - len(live))
        drafted = any(number.drafted for turn in live for number in turn.live.rounds)
        status, reason = Status.PASS, None
        summary = f"{len(live)} answers from a live cache are those of a fresh one, {len(found)} near ties explained"
        if bad:
            status, reason = Status.FAIL, Reason.CORRECTNESS
            summary = f"{len(bad)} of {len(played)} answers differ from those of a fresh cache, first {_apart(bad[0])}"
        elif wrong:
            status, reason, summary = Status.FAIL, Reason.METRICS, wrong
        elif not drafted:
            status, reason = Status.NOT_EXERCISED, Reason.NOT_EXERCISED
            summary = "nothing was drafted on a live cache" if live else NEVER_LIVE
        elif short:
            status, reason = Status.INCONCLUSIVE, Reason.INCOMPLETE
            summary += f"; {short} more are needed"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
            summary=summary,
            reproduce=tuple(turn.name for turn in bad),
            seen=f"a fault that changes 1 in {1 / detectable:.1f} answers from a live cache" if live else "",
            figures={
                "answers": len(played),
                "from_live_cache": len(live),
                "entries_kept": sum(turn.kept for turn in live),
                "forks": len(found),
                "unexplained": len(bad),
            },
        )


def turns(observed: Mapping[str, Any]) -> Iterator[Turn]:
    """Every turn of every dialogue."""
    for dialogue in observed["dialogues"]:
        before = math.inf  # tokens asked at the turn before: what lies behind them in its cache was answered
        for turn in dialogue["turns"]:
            live, fresh = (Generation.from_json(turn[arm]) for arm in ("live", "fresh"))
            yield Turn(live.name, turn["kept"], turn["kept"] > before, live, fresh, turn["replay"])
            before = turn["prompt"]


def differs(turn: Turn) -> Fork | None:
    """Where the live answer leaves the fresh one."""
    return fork(turn.name, "", turn.fresh.tokens, turn.live.tokens)


def _miscount(case: Case, turn: Turn, limit: int) -> str | None:
    """The first count of the live answer that does not add up."""
    wrong = complaint(turn.live, case.draft_length, limit, case.header["eos"])
    return f"{turn.name}: {wrong}" if wrong else None


def _apart(turn: Turn) -> str:
    return f"{turn.name}: fresh {turn.fresh.text[:40]!r}, live {turn.live.text[:40]!r}"
