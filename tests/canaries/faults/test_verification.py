"""The planted verifier leaves the residual out: by how much that bends a law, by hand."""

import numpy as np
import pytest

from draftgate.canaries.faults.verification import (
    BonusFromTheRowBefore,
    KeepsTheFirstUnseen,
    ResampleFromTarget,
    resample_from_target,
    unit_temperature,
)
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.request import Sampling
from draftgate.engine.sampling import next_token_probs
from draftgate.engine.tree import DraftTree
from draftgate.engine.verification.base import RowChance
from draftgate.engine.verification.lossless import Lossless

P, Q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
GRID = (np.arange(60) + 0.5) / 60  # uniforms, evenly; 60 divides every chance of the example


def first_token(verifier):
    """The law of the first token of a round that drafts one token from q."""
    law = np.zeros(2)
    for drafted in (0, 1):
        tree = DraftTree.chain(0, np.array([drafted]), Q[None])
        for u in GRID:
            chances = [RowChance(np.array([0.0, u]), last) for last in GRID]
            for path, last in verifier.verify([tree] * 60, [np.stack([P, P])] * 60, chances):
                law[drafted if path else last] += Q[drafted] / 3600
    return law


def test_the_engines_walk_follows_p_and_the_planted_one_does_not():
    assert first_token(Lossless()) == pytest.approx(P, abs=1 / 60)
    assert first_token(ResampleFromTarget()) == pytest.approx([0.7, 0.3], abs=1 / 60)


def test_greedy_laws_hide_it():
    """The rejected token is never the likeliest, so that p and its residual have the same one."""
    greedy = np.array([0.0, 1.0])
    trees = [DraftTree.chain(0, np.array([token]), np.eye(2)[[token]]) for token in (0, 1)]
    chances = [RowChance(np.array([0.0, 0.5]), 0.5)] * 2
    probs = [np.stack([greedy, greedy])] * 2

    assert Lossless().verify(trees, probs, chances) == ResampleFromTarget().verify(trees, probs, chances)


def test_only_the_verifier_is_exchanged():
    own = Strategies()
    planted = resample_from_target(own)

    assert isinstance(planted.verifier, ResampleFromTarget)
    assert (own.new_cache, own.randomness) == (planted.new_cache, planted.randomness)


def test_the_first_draft_is_kept_where_the_engine_refuses_it():
    tree = DraftTree.chain(0, np.array([1, 1]), np.eye(2)[[1, 1]])
    probs, chance = np.array([[1.0, 0.0]] * 3), RowChance(np.zeros(3), 0.5)

    assert [([], 0)] == Lossless().verify([tree], [probs], [chance])
    assert [([1], 0)] == KeepsTheFirstUnseen().verify([tree], [probs], [chance])


def test_the_bonus_comes_from_the_row_before_after_a_full_acceptance_only():
    tree = DraftTree.chain(0, np.array([0]), np.eye(3)[[0]])
    chance = RowChance(np.zeros(2), 0.5)
    full, refused = np.eye(3)[[0, 1]], np.eye(3)[[2, 1]]

    assert [([1], 1)] == Lossless().verify([tree], [full], [chance])
    assert [([1], 0)] == BonusFromTheRowBefore().verify([tree], [full], [chance])
    assert Lossless().verify([tree], [refused], [chance]) == BonusFromTheRowBefore().verify([tree], [refused], [chance])


def test_greedy_requests_stay_greedy_and_sampled_ones_lose_their_parameters():
    logits = np.array([[[3.0, 2.0, 0.0]]] * 2)
    asked = [Sampling(), Sampling(temperature=0.5, top_k=1)]

    greedy, sampled = unit_temperature(logits, asked)

    assert np.array_equal(next_token_probs(logits[:1], asked[:1])[0], greedy)
    assert np.array_equal(next_token_probs(logits[:1], [Sampling(temperature=1.0)])[0], sampled)
