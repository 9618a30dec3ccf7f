"""Teacher forcing through the plain arm: its noise, how close its choices are, and what it says of the candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...engine.request import Request
from ...suites.suite import Cell
from ..contracts import Shape
from .answers import by_arm, forks
from .context import Context, replay_json, sampling_of

NOISE_ROWS = 8  # baseline answers on which noise is measured: 8 x 64 tokens at each width
SOLO_ROWS = 2  # of these, how many are replayed alone as well


def observe(context: Context, cell: Cell, pairs: Mapping[str, Any]) -> dict[str, Any]:
    """Noise between passes of different shape, the baseline's census of margins, and replays of the candidate.

    Greedy cells replay the answers that fork; sampled cells replay every answer, for their law.
    """
    baseline = [a for a in by_arm(pairs, "baseline") if a.repeat == 0]
    candidate = by_arm(pairs, "candidate")
    requests = {r.name: r for r in _requests(context, cell)}
    judged = (
        [(f.canary, f.tokens) for f in forks(pairs)]
        if cell.greedy
        else [(a.canary, a.generation.tokens) for a in candidate]
    )
    plain = [(requests[a.canary], a.generation.tokens) for a in baseline]
    measured = noise(context, plain[:NOISE_ROWS])
    slack = context.suite.noise.fork_multiple * max(measured["logits"].values())
    return {
        "noise": measured,
        "census": _scored(context, plain, slack) if cell.greedy else [],
        "candidate": _scored(context, [(requests[canary], tokens) for canary, tokens in judged], slack),
        "replayed": [canary for canary, _ in judged],
    }


def noise(context: Context, answers: Sequence[tuple[Request, tuple[int, ...]]]) -> dict[str, Any]:
    """Largest difference of the top-two gap between the baseline's shapes of scoring and its yardstick, in logits.

    Shapes of the reference engine: the verify widths that the suite names and the candidate uses, in a batch; and
    alone. No drafter takes part.
    """
    widths = sorted({*context.suite.noise.widths, context.candidate.draft_length + 1} - {1})
    yardstick, *others = context.baseline.shapes(widths)
    reference = _gaps(context, answers, yardstick)
    found = {}
    for shape in others:
        few = answers[:SOLO_ROWS] if shape.alone else answers
        found[shape.label] = _largest(reference[: len(few)], _gaps(context, few, shape))
    return {"logits": found, "positions": sum(len(tokens) for _, tokens in answers)}


def _requests(context: Context, cell: Cell) -> list[Request]:
    canaries = context.suite.canaries_for(cell)
    return context.requests(canaries, tokens=cell.tokens, sampling=sampling_of(cell), label="replay")


def _scored(context: Context, answers: Sequence[tuple[Request, tuple[int, ...]]], slack: float) -> list[dict[str, Any]]:
    found = context.baseline.score([r for r, _ in answers], [t for _, t in answers], width=0, slack=slack)
    return [replay_json(replay) for replay in found]


def _gaps(
    context: Context, answers: Sequence[tuple[Request, tuple[int, ...]]], shape: Shape
) -> list[tuple[float, ...]]:
    calls = [[answer] for answer in answers] if shape.alone else [answers]
    score = partial(context.baseline.score, width=shape.width, slack=0.0)
    return [replay.gap for call in calls for replay in score([r for r, _ in call], [t for _, t in call])]


def _largest(ones: Sequence[tuple[float, ...]], others: Sequence[tuple[float, ...]]) -> float:
    pairs = zip(ones, others, strict=True)
    return max((float(np.abs(np.subtract(a, b)).max(initial=0.0)) for a, b in pairs), default=0.0)
