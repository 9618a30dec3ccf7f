"""This engine's drafters in the place of transformers' own, so that its verifier is driven into its corners.

The one file that rests on a name the library does not promise (`_get_candidate_generator`, transformers 5.24); its test
fails where that name goes or is no longer asked. Drafts are handed over without a law, as prompt lookup hands over its
own: the library then compares them with what it chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..drafters.base import Drafter, Situation
from ..randomness import CounterRandomness, Purpose
from ..request import Request

_METHOD = "_get_candidate_generator"


@contextmanager
def injected(model: Any, drafter: Drafter, request: Request) -> Iterator[None]:
    """While this lasts, `model.generate` of this one request asks `drafter` for its candidates."""
    candidates = _Candidates(drafter, request)
    setattr(model, _METHOD, lambda **_: candidates)
    try:
        yield
    finally:
        delattr(model, _METHOD)


class _Candidates:
    """What the library asks of a generator of candidates."""

    requires_model_outputs = False

    def __init__(self, drafter: Drafter, request: Request) -> None:
        self._drafter, self._request, self._rounds = drafter, request, 0
        drafter.begin(1)

    def get_candidates(self, input_ids: Tensor, **_: object) -> tuple[Tensor, None]:
        """The sequence (1, tokens) with the drafts behind it."""
        context = input_ids[0].tolist()
        done = len(context) - len(self._request.prompt)
        situation = Situation(
            requests=[self._request],
            contexts=[context],
            limits=[min(self._drafter.length, self._request.max_tokens - done - 1)],
            chance=CounterRandomness().uniforms(
                np.array([self._request.seed]), np.array([self._rounds]), Purpose.DRAFT, self._drafter.length
            ),
            rounds=[self._rounds],
        )
        (tree,) = self._drafter.draft(situation)
        drafts = torch.from_numpy(tree.tokens[1:].astype(np.int64))[None].to(input_ids.device)
        return torch.cat([input_ids, drafts], dim=1), None

    def update_candidate_strategy(self, input_ids: Tensor, scores: Tensor, num_matches: int) -> None:
        """A round is over."""
        del input_ids, scores
        self._rounds += 1
        self._drafter.observe([int(num_matches)])
