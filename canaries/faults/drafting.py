"""Plants in the drafter: the law it states is not the law that its tokens have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...engine.drafters.base import Situation
from ...engine.drafters.draft_model import Chains, DraftModel, Proposed
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


class DropsTheUnsure(DraftModel):
    """Ends a chain before a token that looks weak, once it was drawn, and not behind it (F03b).

    Those that are left are likelier than their law says: it is the law given that they were not taken back.
    """

    WEAK = 0.5

    def _chains(self, logits: Logits, depth: int, situation: Situation) -> Chains:
        """As drawn, up to the first weak token; none of it may be left."""
        (tokens, laws), lengths = super()._chains(logits, depth, situation)
        own = np.take_along_axis(laws, tokens[:, :, None], axis=2)[:, 1:, 0]
        weak = (own < self.WEAK) & (np.arange(own.shape[1]) < lengths[:, None])
        return Chains(Proposed(tokens, laws), np.where(weak.any(axis=1), weak.argmax(axis=1), lengths))


def state_unfiltered(strategies: Strategies) -> Strategies:
    """F02."""
    return replace(strategies, draft_model=StatesUnfiltered)


def take_the_best(strategies: Strategies) -> Strategies:
    """F03."""
    return replace(strategies, draft_model=TakesTheBest)


def drop_the_unsure(strategies: Strategies) -> Strategies:
    """F03b."""
    return replace(strategies, draft_model=DropsTheUnsure)
