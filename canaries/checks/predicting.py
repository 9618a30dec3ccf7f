"""What speed-up the timed answers should have had, from their own rounds and from what the parts of a round cost.

Of each group, plain decoding takes a prefill and a step for every further token of its longest answer; speculation
takes both prefills, and for every round of the answer that took most a step, and more by the tokens that are drafted.
Rows that have ended cost as if they had not, in either arm; prompts count as long as those of the first group. Judges
nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from ...engine.request import Generation, Round
from ...stats.speed import Ratio, paired_ratio
from ..observations.answers import Answered
from ..observations.context import seed_of
from ..observations.costs import PARTS
from ..observations.pairs import BASELINE, CANDIDATE
from .base import Case
from .whole import whole

LEAST = 4  # timed turns that drafted something: fewer have no spread
BOUND_SLACK = 1.25  # a ratio's lower end may exceed a bound by this: prompts differ, and clocks are noisy

Floats = npt.NDArray[np.float64]


def predicted(case: Case, listed: Sequence[Answered], measured: Ratio) -> dict[str, Any] | None:
    """The speed-up and its interval over the turns in which the parts were timed, and what it is made of.

    None where no parts were timed, nothing was drafted meanwhile, or the times give no number.

    acceptance, tokens_a_round
        Of the recorded rounds: the share of judged drafts that were kept, and what a round emitted.
    width, c, wider
        Of the timed rounds: drafted tokens; what one of them costs, and a verification, in plain steps.
    ideal
        tokens_a_round / (1 + c K): the same if a wider pass were free, prefills left out.
    exceeded
        Whether what was measured lies above the prediction by more than what it leaves out explains.
    """
    if not whole(case, "costs"):
        return None
    costs = case.observed("costs")
    rounds = [one for a in listed if a.arm == CANDIDATE for one in a.generation.rounds]
    timed = np.array([costs[part] for part in PARTS])
    step, draft, verify, drafted = timed[:, timed[PARTS.index("drafted")] > 0]
    if len(step) < LEAST or not any(one.drafted for one in rounds):
        return None
    first = max(costs["prefill"]["draft"] - float(draft.mean()), 0.0)  # what a draft takes more behind a new prompt
    with np.errstate(all="ignore"):
        logs = _logs(listed, (costs["prefill"]["target"], first), step, (draft + verify - step) / drafted)
        c, wider = np.median(draft / (drafted * step)), np.median(verify / step)
        times = np.exp(logs)
    if not (np.isfinite([*times, c, wider]).all() and times.all()):
        return None
    numbers, rng = case.suite.speed, np.random.default_rng(seed_of(case.seed, case.cell.name, "predicted"))
    ratio = paired_ratio(
        times, np.ones(len(times)), confidence=numbers.confidence, resamples=numbers.resamples, rng=rng
    )
    width = float(drafted.mean())
    tokens = sum(one.emitted for one in rounds) / len(rounds)
    return {
        "ratio": ratio.ratio,
        "low": ratio.low,
        "high": ratio.high,
        "acceptance": acceptance(rounds),
        "tokens_a_round": tokens,
        "width": width,
        "c": float(c),
        "wider": float(wider),
        "ideal": tokens / (1 + float(c) * width),
        "exceeded": measured.low > BOUND_SLACK * ratio.high,
    }


def acceptance(rounds: Sequence[Round]) -> float:
    """The share of judged drafts that were kept: those behind a rejection were not judged. NaN where none was."""
    kept = sum(one.accepted for one in rounds)
    judged = kept + sum(one.accepted < one.drafted for one in rounds)
    return kept / judged if judged else float("nan")


def _logs(listed: Sequence[Answered], prefills: tuple[float, float], step: Floats, more: Floats) -> Floats:
    """(turns,): the mean over all groups of the log of plain over speculative seconds a token, by each turn's costs.

    A round costs a plain step, and `more` for each token that a row of it drafted.
    """
    together: dict[tuple[str, int, int], list[Generation]] = defaultdict(list)
    for answer in listed:
        together[answer.arm, answer.group, answer.repeat].append(answer.generation)
    sums: dict[str, list[Floats]] = {BASELINE: [], CANDIDATE: []}
    for (arm, *_), rows in together.items():
        if arm == BASELINE:
            seconds = prefills[0] + step * (max(len(g.tokens) for g in rows) - 1)
        else:
            drafted = drafted_by_round(rows)
            seconds = sum(prefills) + step * len(drafted) + more * sum(drafted)
        sums[arm].append(np.log(seconds / sum(len(g.tokens) for g in rows)))
    plain, speculative = (np.mean(sums[arm], axis=0) for arm in (BASELINE, CANDIDATE))
    return np.asarray(plain - speculative)


def drafted_by_round(rows: Sequence[Generation]) -> list[float]:
    """How many tokens each round drafted, on average over the rows that were still open."""
    numbered = zip_longest(*(g.rounds for g in rows))
    return [float(np.mean([one.drafted for one in together if one])) for together in numbered]
