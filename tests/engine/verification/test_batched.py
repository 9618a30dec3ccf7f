import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftgate.engine.sampling import draw, one_hot
from draftgate.engine.tree import DraftTree
from draftgate.engine.verification.base import Guarantee, RowChance
from draftgate.engine.verification.batched import BatchedLossless
from draftgate.engine.verification.lossless import Lossless

ROWS = 64


def laws(rng, shape, kind):
    """Dirichlet laws, with zeros, or point masses, as the row's kind says."""
    dense = rng.dirichlet(np.full(shape[-1], 0.7), shape[:-1])
    if kind == "greedy":
        return one_hot(dense.argmax(axis=-1), shape[-1])
    if kind == "filtered":
        dense[dense < dense.max(axis=-1, keepdims=True) / 3] = 0
    return dense / dense.sum(axis=-1, keepdims=True)


def ragged_rows(rng, vocabulary, deepest):
    """Rows as a batch has them: every length from bare to `deepest`, p near q, equal to it, or far from it."""
    trees, probs, chances = [], [], []
    for _ in range(ROWS):
        length, kind = int(rng.integers(0, deepest + 1)), rng.choice(["plain", "filtered", "greedy"])
        p = laws(rng, (length + 1, vocabulary), kind)
        q = p[:-1] if rng.random() < 0.3 else laws(rng, (length, vocabulary), kind)
        if rng.random() < 0.3:
            q = (p[:-1] + q) / 2
        tokens = draw(q, rng.random(length)) if length else np.zeros(0, np.int64)
        trees.append(DraftTree.chain(1, tokens, q) if length else DraftTree.bare(1, vocabulary))
        probs.append(p)
        chances.append(RowChance(rng.random(deepest + 1), float(rng.random())))
    return trees, probs, chances


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 5, 40, 512]), st.integers(0, 6))
def test_ragged_chains_end_as_the_walk_ends_draw_for_draw(seed, vocabulary, deepest):
    rows = ragged_rows(np.random.default_rng(seed), vocabulary, deepest)

    assert Lossless().verify(*rows) == BatchedLossless().verify(*rows)


def test_rows_of_every_outcome_are_among_those_compared():
    """Full, partial and no acceptance all occur; a batch of one kind would prove little."""
    trees, probs, chances = ragged_rows(np.random.default_rng(0), 5, 4)
    kept = [len(out.path) for out in Lossless().verify(trees, probs, chances)]
    outcomes = {(n == 0, n == tree.drafted) for n, tree in zip(kept, trees, strict=True) if tree.drafted}

    assert {(True, False), (False, True), (False, False)} == outcomes


def test_a_rule_off_by_one_uniform_would_be_seen():
    trees, probs, chances = ragged_rows(np.random.default_rng(0), 5, 4)
    shifted = [RowChance(np.roll(c.accept, 1), c.final) for c in chances]

    assert Lossless().verify(trees, probs, chances) != BatchedLossless().verify(trees, probs, shifted)


def test_a_tree_that_branches_is_refused():
    tree = DraftTree(np.array([0, 1, 2]), (-1, 0, 0), np.full((3, 3), 1 / 3))

    with pytest.raises(ValueError, match="takes chains only; use Lossless for trees"):
        BatchedLossless().verify([tree], [np.full((3, 3), 1 / 3)], [RowChance(np.zeros(3), 0.0)])


def test_a_residual_without_mass_raises():
    tree = DraftTree.chain(0, np.array([0]), np.array([[1.0, 1.0]]))

    with pytest.raises(ZeroDivisionError, match="without mass"):
        BatchedLossless().verify([tree], [np.full((2, 2), 0.5)], [RowChance(np.array([0.0, 0.9]), 0.0)])


def test_it_promises_the_targets_law():
    assert Guarantee.SAME_LAW == BatchedLossless().guarantee
