"""The function that the engine calls, proved by enumeration; and slips in it, found the same way."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from draftgate.canaries.samplers.proofs.cases import Case, histories, rational
from draftgate.canaries.samplers.proofs.proof import case_of, prove_part, token_accepted
from draftgate.canaries.samplers.proofs.rounds import one_round
from draftgate.canaries.samplers.proofs.rules import DRAWN, RULES
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.sampling import softmax
from draftgate.engine.tree import DraftTree, chain_parents
from draftgate.engine.verification.base import Accepted, Guarantee, RowChance, Rule
from draftgate.engine.verification.block import Block, accept_block
from draftgate.engine.verification.lossless import accept
from draftgate.stats.acceptance import block_law, mean_accepted
from wrong_rules import WRONG_BLOCKS, block

CASES = 60
BLOCK = RULES["block"]


def wrong(accept, cases=CASES):
    """In how many cases the law is not the target's."""
    found = ((case, one_round(case, DRAWN, accept)) for case in (case_of(BLOCK, 0, i) for i in range(cases)))
    return sum(one.distance(case) > 0 for case, one in found)


def test_a_chain_leaves_the_targets_law_as_it_is_and_keeps_between_the_token_rule_and_the_bound():
    assert () == prove_part(BLOCK, range(CASES), 0).failures


def test_more_is_kept_than_under_the_token_rule():
    part = prove_part(BLOCK, range(CASES), 0)

    assert part.token < part.accepted < part.bound


K, PARTS = 2, 10_000


def of_tables(seed, vocabulary=3):
    """Two table models behind a prompt, as a case: what the engine decodes, in rational numbers."""
    rng = np.random.default_rng(seed)
    models = [TableModel(peaked_table(vocabulary, 5, rng)) for _ in range(2)]

    def law(model, history):
        parts = (softmax(model.law((0, 1, *history)).astype(np.float64)) * PARTS).astype(int) + 1
        return rational(Fraction(int(part), int(parts.sum())) for part in parts)

    target, draft = ({h: law(model, h) for h in histories(vocabulary, K + 1)} for model in models)
    return Case(vocabulary, chain_parents(K), target, {h: q for h, q in draft.items() if len(h) < K})


@pytest.mark.parametrize("seed", range(4))
def test_on_table_models_it_keeps_more_than_token_verification_in_expectation(seed):
    """Enumerated whole: no draw, and nothing to be lucky with."""
    case = of_tables(seed)
    ours, theirs = one_round(case, DRAWN, accept_block), one_round(case, DRAWN, accept)

    assert [0, 0] == [ours.distance(case), theirs.distance(case)]
    assert theirs.accepted == token_accepted(case) < ours.accepted


def as_tables(laws, k, vocabulary):
    """The laws of a case as arrays by history."""
    return [
        np.array([laws[h] for h in histories(vocabulary, i + 1) if len(h) == i]).reshape((vocabulary,) * (i + 1))
        for i in range(k)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_what_it_keeps_is_the_sum_of_the_weights(seed):
    """The first token as often as the token rule keeps it: what the gate expects of the first node holds for both."""
    case = of_tables(seed)
    p, q = (as_tables(laws, K, case.vocabulary) for laws in (case.target, case.draft))
    law = block_law(p, q)

    assert mean_accepted(law) == one_round(case, DRAWN, accept_block).accepted
    assert 1 - law[0] == np.minimum(p[0], q[0]).sum()


@pytest.mark.parametrize("slip", WRONG_BLOCKS.values(), ids=WRONG_BLOCKS)
def test_a_slip_is_found(slip):
    assert 0 == wrong(block, 20)
    assert 3 < wrong(partial(block, slip=slip))


def floats(*rows):
    return np.array(rows, np.float64)


def test_the_longest_prefix_whose_uniform_keeps_it_is_kept():
    """Weights 1, 1/2, 1: with flat p and q of 1/2 the first token costs nothing, the second half."""
    tree = DraftTree.chain(0, np.array([0, 0]), floats([0.5, 0.5], [1.0, 0.0]))
    p = floats([0.5, 0.5], [0.5, 0.5], [0.25, 0.75])

    assert Accepted([1, 2], 1) == accept_block(tree, p, RowChance(floats(0, 0.9, 0.4), 0.3))
    assert Accepted([1], 1) == accept_block(tree, p, RowChance(floats(0, 0.9, 0.6), 0.3))


def test_nothing_drafted_is_an_ordinary_step():
    chance = RowChance(floats(0), 0.7)

    assert Accepted([], 1) == accept_block(DraftTree.bare(0, 3), floats([0, 1, 0]), chance)


def test_equal_laws_keep_everything_in_floats_too():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.dirichlet(np.ones(6), 4)
        tree = DraftTree.chain(0, rng.integers(6, size=3), p[:3] / p[:3].sum(axis=-1, keepdims=True))

        assert [1, 2, 3] == accept_block(tree, p, RowChance(rng.random(4), rng.random())).path


def test_a_tree_that_branches_is_refused():
    tree = DraftTree(np.array([0, 1, 2]), (-1, 0, 0), np.full((3, 3), 1 / 3))

    with pytest.raises(ValueError, match="chains only; use Traversal"):
        Block().verify([tree], [np.full((3, 3), 1 / 3)], [RowChance(np.zeros(3), 0.0)])


def test_it_judges_row_by_row_and_says_what_it_promises():
    trees = [DraftTree.bare(0, 2), DraftTree.chain(0, np.array([1]), floats([0, 1]))]
    probs = [floats([0, 1]), floats([0.5, 0.5], [1, 0])]
    chances = [RowChance(floats(0, 0), 0.0), RowChance(floats(0, 0.2), 0.9)]

    assert [Accepted([], 1), Accepted([1], 0)] == Block().verify(trees, probs, chances)
    assert (Guarantee.SAME_LAW, Rule.BLOCK) == (Block.guarantee, Block.rule)
    with pytest.raises(ValueError, match="argument"):
        Block().verify(trees, probs, chances[:1])
