"""The same engine with its knobs turned: every draft length, and drafters made to drive the verifier into corners.

At T = 0 none of them may change a confident token: a change proves a fault without a golden answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...engine.request import Generation, Request
from ...suites.suite import Knobs, Synthetic
from ..contracts import Arm
from .answers import fork
from .context import GREEDY, Context, replay_json


def observe_knobs(context: Context, method: str) -> dict[str, Any]:
    """Greedy answers at every draft length of the suite, beside the plain ones."""
    knobs = context.suite.knobs
    arms = {f"k={k}": context.candidate.variant(method, k=k) for k in knobs.draft_lengths}
    return _observe(context, knobs, lambda _: arms)


def observe_synthetic(context: Context, draft_length: int) -> dict[str, Any]:
    """Greedy answers under every synthetic drafter of the suite, beside the plain ones."""
    synthetic = context.suite.synthetic

    def arms(plain: Mapping[str, tuple[int, ...]]) -> dict[str, Arm]:
        return {name: context.candidate.variant(name, k=draft_length, answers=plain) for name in synthetic.drafters}

    return _observe(context, synthetic, arms)


def _observe(context: Context, asked: Knobs | Synthetic, arms: Any) -> dict[str, Any]:
    requests = context.requests(
        context.suite.first(asked.prompts), tokens=asked.tokens, sampling=GREEDY, label="variants"
    )
    plain = {g.name: g for g in context.baseline.generate(requests)}
    found = {}
    for label, arm in arms({name: g.tokens for name, g in plain.items()}).items():
        generations = arm.generate(requests)
        found[label] = {
            "generations": [g.to_json() for g in generations],
            "replays": replayed(context.baseline, requests, plain, generations),
        }
    return {"plain": [g.to_json() for g in plain.values()], "variants": found}


def replayed(
    baseline: Arm, requests: Sequence[Request], plain: Mapping[str, Generation], generations: Sequence[Generation]
) -> dict[str, Any]:
    """Teacher-forced replays of the answers that differ from the plain ones, by canary."""
    differing = [
        (request, g.tokens)
        for request, g in zip(requests, generations, strict=True)
        if fork(g.name, "", plain[g.name].tokens, g.tokens)
    ]
    replays = baseline.score([r for r, _ in differing], [t for _, t in differing], width=0, slack=0.0)
    return {request.name: replay_json(r) for (request, _), r in zip(differing, replays, strict=True)}
