"""Plants in the drafter: the law it states is not the law its tokens were drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...engine.drafters.draft_model import DraftModel, Proposed
from ...engine.models.base import Logits
from ...engine.randomness import Floats
from ...engine.request import Sampling
from ...engine.sampling import next_token_probs
from ..targets.strategies import Strategies


class StatesUnfiltered(DraftModel):
    """Draws under top-k and top-p, states the law without them (F02)."""

    def propose(self, logits: Logits, samplings: Sequence[Sampling], chance: Floats) -> Proposed:
        """The honest token with a law that never was."""
        bare = [Sampling(temperature=sampling.temperature) for sampling in samplings]
        return super().propose(logits, samplings, chance)._replace(laws=next_token_probs(logits[:, None], bare)[:, 0])


class TakesTheBest(DraftModel):
    """Proposes the likeliest token, states the law it might have been drawn from (F03)."""

    def propose(self, logits: Logits, samplings: Sequence[Sampling], chance: Floats) -> Proposed:
        """The likeliest token with the honest law."""
        laws = super().propose(logits, samplings, chance).laws
        return Proposed(laws.argmax(axis=-1), laws)


def state_unfiltered(strategies: Strategies) -> Strategies:
    """F02."""
    return replace(strategies, draft_model=StatesUnfiltered)


def take_the_best(strategies: Strategies) -> Strategies:
    """F03."""
    return replace(strategies, draft_model=TakesTheBest)
