"""What a target's own law says of tokens that were emitted: teacher-forced logits in, replays out.

Knows no model. Whoever forces tokens through one hands over how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...engine.models.base import Logits
from ...engine.request import Request, Sampling
from ...engine.sampling import in_support, next_token_probs
from ..contracts import Replay, Shape

# From requests, answers and the width of a pass to the logits (tokens, vocabulary) before each token of each answer.
Force = Callable[[Sequence[Request], Sequence[Sequence[int]], int], list[Logits]]
_ROWS = 16  # answers teacher-forced in one batch: bounds memory, changes no result beyond rounding


def scored(
    force: Force, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
) -> list[Replay]:
    """Replays in the order of the requests, from batches of prompts of like length."""
    found: dict[int, Replay] = {}
    order = sorted(range(len(requests)), key=lambda row: len(requests[row].prompt))  # the less is padded
    for start in range(0, len(order), _ROWS):
        rows = order[start : start + _ROWS]
        logits = force([requests[row] for row in rows], [answers[row] for row in rows], width)
        for row, forced in zip(rows, logits, strict=True):
            found[row] = replay(forced, answers[row], requests[row].sampling, slack)
    return [found[row] for row in range(len(requests))]


def stepped_shapes(widths: Sequence[int]) -> tuple[Shape, ...]:
    """The shapes of a target that may be scored in passes of any width."""
    wide = tuple(Shape(f"width {width}", width, alone=False) for width in widths)
    return Shape("", 1, alone=False), *wide, Shape("alone", 1, alone=True)


def first_law(force: Force, request: Request) -> dict[int, float]:
    """What the filters keep of the law right after the prompt."""
    (logits,) = force([request], [request.prompt[-1:]], 0)  # which token follows is not looked at
    law = next_token_probs(logits[None].astype(np.float64), [request.sampling])[0, 0]
    return {int(token): float(law[token]) for token in law.nonzero()[0]}


def replay(logits: Logits, answer: Sequence[int], sampling: Sampling, slack: float) -> Replay:
    """What the target's own law says of each emitted token."""
    if not len(answer):
        return Replay((), (), (), (), ())
    rows, tokens = np.arange(len(answer)), np.array(answer)
    wide = logits.astype(np.float64)
    top = np.partition(wide, -2, axis=-1)[:, -2:]
    own = wide[rows, tokens]
    law = next_token_probs(wide[None], [sampling])[0]
    prob = law[rows, tokens]
    index = np.arange(law.shape[1])
    ahead = (wide > own[:, None]) | ((wide == own[:, None]) & (index < tokens[:, None]))
    outside = [  # slack only widens the support, so what has mass needs no second look
        mass == 0 and not in_support(row, int(token), sampling, slack)
        for row, token, mass in zip(wide, tokens, prob, strict=True)
    ]
    return Replay(
        tuple((top[:, 1] - own).tolist()),
        tuple((top[:, 1] - top[:, 0]).tolist()),
        tuple((law * ahead).sum(axis=1).tolist()),
        tuple(prob.tolist()),
        tuple(int(o) for o in outside),
    )
