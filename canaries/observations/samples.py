"""Many answers to few prompts, from both arms: what may be said of a law from outside, without exchanging anything.

A canary is continued from the place of the baseline's greedy answer where its two best tokens are nearest: what is
asked there leaves a choice, whatever the canary is. Answers are asked for many at a time, the arms in turn, each with a
seed of its own. Kept are the different answers, what the baseline says of each, and which of them came where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from ...engine.request import Request
from ...suites.suite import Canary, Cell, Samples
from ..contracts import Arm
from .context import GREEDY, Context, sampling_of, seed_of
from .pairs import BASELINE, CANDIDATE
from .replays import NOISE_ROWS, noise

Tokens = tuple[int, ...]
Came = dict[tuple[str, int], Sequence[Tokens]]  # the answers of an arm's call, in the order in which calls are numbered
LAWS_AT_ONCE = 64  # asked for in one call: a server may tell the whole vocabulary with each


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where answers are asked for: the request, which tokens of the canary's greedy answer it holds, and the law there.

    `law` is what the filters keep, as (token, mass); None where the baseline does not tell enough to know it.
    """

    request: Request
    prefix: Tokens
    law: list[tuple[int, float]] | None


class Open(NamedTuple):
    """What the number of draws follows from: places whose law is known, others, and the noise there in logits."""

    known: int
    unknown: int
    noise: float


def observe(
    context: Context, cell: Cell, numbers: Samples, draws: Callable[[Open], int], measured: float | None = None
) -> dict[str, Any]:
    """Answers to the suite's number of open prompts, as many of each as `draws` says.

    `measured` is the noise between passes of plain decoding, in logits; it is measured here where it was not before.
    """
    greedy = _greedy(context, cell, numbers)
    first = list(islice(greedy, NOISE_ROWS))
    if measured is None:
        measured = max(noise(context, first)["logits"].values())
    found: list[Place] = []
    for request, answer in (*first, *greedy):
        place = _place(context, cell, numbers, request, answer)
        found += [place] if place else []
        if len(found) == numbers.prompts:
            break
    known = sum(place.law is not None for place in found)
    each = draws(Open(known, len(found) - known, measured))
    slack = context.suite.noise.fork_multiple * measured
    told = _asked(context, cell, numbers, found, each // numbers.batch)
    prompts = [_prompt(context, place, came, slack) for place, came in zip(found, told, strict=True)]
    return {"draws": each, "noise": measured, "open": len(found), "prompts": prompts}


def _greedy(context: Context, cell: Cell, numbers: Samples) -> Iterator[tuple[Request, Tokens]]:
    """The baseline's greedy answers, canary by canary as the suite counts them, so many asked at once."""
    canaries: Sequence[Canary] = context.suite.first(len(context.suite.canaries))
    for start in range(0, len(canaries), numbers.batch):
        group = canaries[start : start + numbers.batch]
        requests = context.requests(group, tokens=cell.tokens, sampling=GREEDY, label="samples")
        answers = context.baseline.generate(requests)
        yield from ((r, a.tokens) for r, a in zip(requests, answers, strict=True) if a.tokens)


def _place(context: Context, cell: Cell, numbers: Samples, request: Request, answer: Tokens) -> Place | None:
    """The most open place that leaves room for an answer, with its law; None where even that is hardly open."""
    (replay,) = context.baseline.score([request], [answer], width=0, slack=0.0)
    room = replay.gap[: max(1, cell.tokens + 1 - numbers.tokens)]
    prefix = answer[: room.index(min(room))]
    asked = Request(
        name=request.name,
        prompt=(*request.prompt, *prefix),
        max_tokens=numbers.tokens,
        sampling=sampling_of(cell),
        eos=request.eos,
    )
    (law,) = context.baseline.next_law([asked])
    if law is not None and max(law.values()) > 1 - numbers.least_open:
        return None
    return Place(request=asked, prefix=prefix, law=None if law is None else sorted(law.items()))


def _asked(context: Context, cell: Cell, numbers: Samples, places: Sequence[Place], calls: int) -> list[Came]:
    """Both arms' answers to each prompt, call by call; the seeds of the first call are asked once more at the end.

    The arms alternate; where only one of them is up at a time, all prompts are asked of the one, then of the other.
    """
    arms = {BASELINE: context.baseline, CANDIDATE: context.candidate}
    order = [(name, call) for call in range(calls) for name in (arms if call % 2 == 0 else reversed(arms))]
    order += [(name, calls) for name in arms]
    turns = [(at, *turn) for at in range(len(places)) for turn in order]
    found: list[Came] = [dict.fromkeys(order, ()) for _ in places]
    for at, name, call in sorted(turns, key=lambda turn: turn[1] != BASELINE) if context.in_turn else turns:
        request, label = places[at].request, (cell.name, "samples", name, places[at].request.name, call % max(calls, 1))
        seeds = [seed_of(context.seed, *label, n) for n in range(numbers.batch)]
        made = arms[name].generate([replace(request, seed=seed) for seed in seeds])
        found[at][name, call] = [tuple(map(int, one.tokens)) for one in made]
    return found


def _prompt(context: Context, place: Place, came: Came, slack: float) -> dict[str, Any]:
    """What is kept of one prompt: its different answers, where each stands in the law, and which came in which call."""
    seen: dict[Tokens, int] = {}
    calls = {turn: [seen.setdefault(answer, len(seen)) for answer in answers] for turn, answers in came.items()}
    by_arm = {arm: [told for (name, _), told in calls.items() if name == arm] for arm in (BASELINE, CANDIDATE)}
    listed = list(seen)
    placed = _placed(context.baseline, place.request, listed)
    return {
        "canary": place.request.name,
        "prefix": list(place.prefix),
        "law": None if place.law is None else [list(pair) for pair in place.law],
        "answers": [list(answer) for answer in listed],
        "below": [[token.below for token in row] for row in placed],
        "prob": [[token.prob for token in row] for row in placed],
        "outside": _outside(context.baseline, place.request, listed, placed, slack),
        **{arm: told[:-1] for arm, told in by_arm.items()},
        "again": {arm: told[-1] for arm, told in by_arm.items()},
    }


class Placed(NamedTuple):
    """The mass of the tokens that are likelier than one, and its own; NaN where the law is unknown."""

    below: float
    prob: float


def _placed(baseline: Arm, request: Request, answers: Sequence[Tokens]) -> list[list[Placed]]:
    """Every token of the answers in its law; a law after what many answers begin with is asked for once."""
    begun = list(dict.fromkeys(answer[:place] for answer in answers for place in range(len(answer))))
    laws: dict[Tokens, Mapping[int, float] | None] = {}
    for start in range(0, len(begun), LAWS_AT_ONCE):
        some = begun[start : start + LAWS_AT_ONCE]
        laws.update(zip(some, baseline.next_law([_after(request, prefix) for prefix in some]), strict=True))
    return [[_in_law(laws[answer[:n]], token) for n, token in enumerate(answer)] for answer in answers]


def _after(request: Request, prefix: Tokens) -> Request:
    return replace(request, prompt=(*request.prompt, *prefix))


def _in_law(law: Mapping[int, float] | None, token: int) -> Placed:
    if law is None:
        return Placed(math.nan, math.nan)
    own = law.get(token, 0.0)
    below = math.fsum(mass for other, mass in law.items() if mass > own or (mass == own and other < token))
    return Placed(below, own)


def _outside(
    baseline: Arm, request: Request, answers: Sequence[Tokens], placed: Sequence[list[Placed]], slack: float
) -> list[list[float]]:
    """1 for tokens that no law keeps though its edge is moved outwards by the slack: only those without mass may be.

    NaN where too little is told to know.
    """
    doubtful = [answer for answer, row in zip(answers, placed, strict=True) if any(token.prob == 0 for token in row)]
    told = baseline.score([request] * len(doubtful), doubtful, width=0, slack=slack) if doubtful else []
    marks = {answer: list(replay.outside) for answer, replay in zip(doubtful, told, strict=True)}
    return [marks.get(answer, [0] * len(answer)) for answer in answers]
