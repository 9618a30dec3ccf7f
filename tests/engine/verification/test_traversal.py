"""Block verification of trees, proved by enumeration; and slips in it, found the same way."""

from __future__ import annotations

import numpy as np
import pytest

from draftgate.canaries.samplers.proofs.proof import case_of, prove_part
from draftgate.canaries.samplers.proofs.rounds import one_round
from draftgate.canaries.samplers.proofs.rules import CHOSEN, DRAWN, RULES, WITHOUT
from draftgate.engine.tree import DraftTree
from draftgate.engine.verification.base import Accepted, Guarantee, RowChance, Rule
from draftgate.engine.verification.block import Block
from draftgate.engine.verification.traversal import Traversal, accept_traversal
from wrong_rules import reranked, sorted_siblings, tampered, traversal_that_forgets, without_duplicates

CASES = 40
OF_TREES = [name for name in RULES if name.startswith("traversal")]


def wrong(accept, drafting=DRAWN, cases=CASES):
    """In how many cases the law is not the target's."""
    cases = [case_of(RULES["traversal, chosen"], 0, index) for index in range(cases)]
    return sum(one_round(case, drafting, accept).distance(case) > 0 for case in cases)


@pytest.mark.parametrize("name", OF_TREES)
def test_a_tree_leaves_the_targets_law_as_it_is(name):
    """Drawn duplicates stay in the tree; nodes may lack children where the support is used up."""
    assert () == prove_part(RULES[name], range(CASES), 0).failures


def test_it_keeps_more_of_drawn_trees_than_the_multi_draft_rule():
    for how in ("with replacement", "without replacement"):
        ours, theirs = (prove_part(RULES[f"{rule}, {how}"], range(CASES), 0) for rule in ("traversal", "multi-draft"))

        assert theirs.accepted < ours.accepted < ours.bound


def test_a_parent_that_is_handed_nothing_back_is_found():
    assert 3 < wrong(traversal_that_forgets)


@pytest.mark.parametrize("change", [without_duplicates, sorted_siblings, reranked])
def test_a_draft_that_is_changed_after_drawing_is_found(change):
    assert 2 < wrong(tampered(change, accept_traversal))


@pytest.mark.parametrize("change", [sorted_siblings, reranked])
def test_chosen_siblings_may_be_sorted_and_left_out(change):
    """An innocent difference: nothing was drawn."""
    assert 0 == wrong(tampered(change, accept_traversal), CHOSEN)


def test_siblings_sorted_after_drawing_without_replacement_are_found():
    assert 2 < wrong(tampered(sorted_siblings, accept_traversal), WITHOUT)


def random_chain(rng, k, vocabulary):
    p, q = rng.dirichlet(np.ones(vocabulary), k + 1), rng.dirichlet(np.ones(vocabulary), k)
    tokens = np.array([rng.choice(vocabulary, p=law) for law in q], np.int64)
    return DraftTree.chain(0, tokens, q), p, RowChance(rng.random(k + 1), rng.random())


def test_on_chains_it_is_block_verification_draw_for_draw():
    rng = np.random.default_rng(0)
    rows = [random_chain(rng, k, 4) for k in rng.integers(1, 6, size=300)]
    outcomes = Traversal().verify(*zip(*rows, strict=True))

    assert Block().verify(*zip(*rows, strict=True)) == outcomes
    assert {0, 1, 2, 3} < {len(outcome.path) for outcome in outcomes}


def test_a_leaf_is_looked_at_before_its_parent_and_a_sibling_after_both():
    point = np.eye(3)
    tree = DraftTree(np.array([0, 0, 1, 2]), (-1, 0, 1, 0), point[[0, 0, 1, 2]])
    p = np.full((4, 3), 1 / 3)
    p[0] = [0.5, 0.25, 0.25]
    seen = []

    class Watched(RowChance):
        def uniform(self, node):
            seen.append(node)
            return super().uniform(node)

    assert Accepted([], 1) == accept_traversal(tree, p, Watched(np.full(4, 0.99), 0.5))
    assert [2, 1, 3] == seen


def test_nothing_drafted_is_an_ordinary_step():
    assert Accepted([], 1) == accept_traversal(DraftTree.bare(0, 3), np.eye(3)[[1]], RowChance(np.zeros(1), 0.7))


def test_a_residual_without_mass_raises():
    """A law that says more than it holds: nothing is left of p, and no token may be made up."""
    tree = DraftTree(np.array([0, 0]), (-1, 0), np.ones((2, 2)))

    with pytest.raises(ZeroDivisionError, match="without mass"):
        accept_traversal(tree, np.full((2, 2), 0.5), RowChance(np.array([0, 0.9]), 0.0))


def test_it_promises_the_targets_law():
    assert (Guarantee.SAME_LAW, Rule.TRAVERSAL) == (Traversal.guarantee, Traversal.rule)
