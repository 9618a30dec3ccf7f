"""The cache after every round, beside what a prefill of the committed tokens would have left: keys, values, lengths.

Chains and trees, drafts that are kept, refused and not made at all. Plain decoding under the same load gives the scale:
its own cache, too, is off from a prefill's by rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....suites.served import Serving
from ..context import Context
from .played import alone, load, requests, session, staggered, windowed

if TYPE_CHECKING:
    from ...contracts import Arm
    from ...load import Difference

OWN = "own drafter"
WINDOWED = "own drafter, in a window"
DRAFTERS = ("branches", "adversary", "odd-even")  # whose accepted path is never the first; none kept; none made
PLAIN = "plain"


def state_parity(context: Context, numbers: Serving) -> dict[str, Any]:
    """How far caches were off, at most, under each drafter and under plain decoding."""
    asked = requests(context, numbers, numbers.parity_prompts)
    answers = {name: answer.tokens for name, answer in alone(context.baseline, asked).items()}
    k = context.candidate.draft_length
    arms = {name: context.candidate.variant(name, k=max(k, 2), answers=answers) for name in DRAFTERS}
    near = windowed(context.candidate, numbers)
    listed: Mapping[str, Arm] = {PLAIN: context.baseline, OWN: context.candidate, **arms, WINDOWED: near}
    found = {}
    for label, arm in listed.items():
        if arm is near:
            asked = requests(replace(context, baseline=near), numbers, numbers.parity_prompts)
        opened = session(arm, load(numbers, batch=numbers.parity_prompts))
        off: list[Difference] = []
        served = opened.serve(staggered(asked, 1), look=lambda: off.extend(opened.differences()))  # noqa: B023
        rounds = [one for generation in served.generations for one in generation.rounds]
        found[label] = {
            "compared": len(off),
            "lengths": sum(one.missing != 0 for one in off),
            "keys": _largest([one.keys for one in off]),
            "values": _largest([one.values for one in off]),
            "first": next((one.name for one in off if one.missing), ""),
            "drafted": sum(one.drafted for one in rounds),
            "accepted": sum(one.accepted for one in rounds),
        }
    return {"drafters": found}


def labels() -> tuple[str, ...]:
    """What is compared."""
    return PLAIN, OWN, *DRAFTERS, WINDOWED


def _largest(found: Sequence[float]) -> float:
    """NaN where one is: `max` would lose it."""
    return float(np.max(found, initial=0.0))
