"""Drafters that misstate the law of their tokens: what they draw is what the honest one draws, or its likeliest."""

import numpy as np
import pytest
from arms import embedded

from draftgate.canaries.faults.drafting import DropsTheUnsure, StatesUnfiltered, TakesTheBest
from draftgate.engine.drafters.base import Situation
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request, Sampling
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


def lengths(drafter):
    """How many tokens are drafted in each of 200 rows that draw apart, and whether the next one would be weak."""
    rows, rng = 200, np.random.default_rng(1)
    asked = [Request(name="r", prompt=(0, 1), max_tokens=9, sampling=Sampling(temperature=1.0))] * rows
    drafter.begin(rows)
    return drafter.draft(Situation(asked, [[0, 1]] * rows, [3] * rows, rng.random((rows, 3)), [0] * rows))


def test_what_is_weak_is_taken_back_and_what_the_honest_one_drew_stays():
    model = TableModel(peaked_table(4, 3, np.random.default_rng(0)))
    honest, planted = lengths(DraftModel(model, 3)), lengths(DropsTheUnsure(model, 3))
    sure = lengths(DraftModel(model, 3, confidence=DropsTheUnsure.WEAK))

    for whole, behind, before in zip(honest, sure, planted, strict=True):
        own = whole.probs[np.arange(1, 4), whole.tokens[1:]]
        first = int(np.argmax(np.append(own, 0.0) < DropsTheUnsure.WEAK))
        assert whole.tokens[: first + 1].tolist() == before.tokens.tolist()
        assert whole.tokens[: first + 2].tolist() == behind.tokens.tolist()
    assert {0, 1, 2, 3} == {tree.drafted for tree in planted}
    assert {1, 2, 3} == {tree.drafted for tree in sure}
