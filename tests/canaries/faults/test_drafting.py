"""Drafters that misstate the law of their tokens: what they draw is what the honest one draws, or its likeliest."""

import numpy as np
import pytest
from arms import embedded

from draftgate.canaries.faults.drafting import StatesUnfiltered, TakesTheBest
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.request import Sampling
from draftgate.engine.sampling import next_token_probs

LOGITS = np.array([[2.0, 1.0, 0.0, -1.0]])
ASKED = [Sampling(temperature=0.7, top_k=2)]


def proposed(drafter: type[DraftModel], u: float):
    return drafter(embedded(), 1).propose(LOGITS, ASKED, np.array([u]))


@pytest.mark.parametrize("u", [0.0, 0.5, 0.99])
def test_the_honest_drafter_states_the_law_it_draws_from_and_the_planted_one_does_not(u):
    honest, planted = proposed(DraftModel, u), proposed(StatesUnfiltered, u)

    assert np.array_equal(next_token_probs(LOGITS[:, None], ASKED)[:, 0], honest.laws)
    assert np.array_equal(honest.tokens, planted.tokens)
    assert (honest.laws[0] > 0).sum() == 2
    assert (planted.laws[0] > 0).all()


def test_the_likeliest_token_is_proposed_whatever_chance_says():
    assert [[0]] * 2 == [proposed(TakesTheBest, u).tokens.tolist() for u in (0.0, 0.99)]
    assert [[0], [1]] == [proposed(DraftModel, u).tokens.tolist() for u in (0.0, 0.99)]
    assert np.array_equal(proposed(DraftModel, 0.5).laws, proposed(TakesTheBest, 0.5).laws)
