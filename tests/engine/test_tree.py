import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.engine.tree import DraftTree, ancestry, depths


@st.composite
def parents_of_trees(draw):
    size = draw(st.integers(1, 12))
    return (-1, *(draw(st.integers(0, node - 1)) for node in range(1, size)))


def ancestors(parents, node):
    """The node and everything above it, by walking up."""
    found = {node}
    while parents[node] >= 0:
        node = parents[node]
        found.add(node)
    return found


def test_a_chain_is_a_tree_of_one_branch():
    laws = np.array([[0.25, 0.75], [0.5, 0.5]])
    tree = DraftTree.chain(7, np.array([1, 0]), laws)

    assert [7, 1, 0] == tree.tokens.tolist()
    assert (-1, 0, 1) == tree.parents
    assert np.array_equal(laws, tree.probs[1:])
    assert 2 == tree.drafted
    assert tree.is_chain


def test_a_bare_tree_proposes_nothing():
    tree = DraftTree.bare(7, 5)

    assert [7] == tree.tokens.tolist()
    assert (1, 5) == tree.probs.shape
    assert 0 == tree.drafted
    assert () == tree.children(0)
    assert tree.is_chain


@pytest.mark.parametrize("parents", [(-1, 0, 0), (-1, 0, 1, 1), (-1, 0, 1, 0)])
def test_a_tree_that_branches_is_no_chain(parents):
    assert not DraftTree(np.zeros(len(parents), int), parents, np.zeros((len(parents), 2))).is_chain


@given(parents_of_trees())
def test_children_come_in_the_order_they_were_drafted(parents):
    tree = DraftTree(np.zeros(len(parents), int), parents, np.zeros((len(parents), 2)))
    expected = [tuple(c for c in range(len(parents)) if parents[c] == node) for node in range(len(parents))]

    assert expected == [tree.children(node) for node in range(len(parents))]


@given(parents_of_trees())
def test_ancestry_and_depth_are_what_walking_up_finds(parents):
    expected = [ancestors(parents, node) for node in range(len(parents))]

    assert expected == [set(np.flatnonzero(row)) for row in ancestry(parents)]
    assert [len(above) - 1 for above in expected] == depths(parents).tolist()


def test_chains_of_a_batch_are_the_chains_of_its_rows():
    rng = np.random.default_rng(0)
    tokens, probs = rng.integers(0, 5, (3, 4)), rng.dirichlet(np.ones(5), (3, 4))
    trees = DraftTree.chains(tokens, probs, [3, 0, 9])

    for row, (tree, length) in enumerate(zip(trees, (3, 0, 3), strict=True)):
        alone = DraftTree.chain(tokens[row, 0], tokens[row, 1 : length + 1], probs[row, 1 : length + 1])
        assert (alone.parents, alone.tokens.tolist()) == (tree.parents, tree.tokens.tolist())
        assert np.array_equal(alone.probs[1:], tree.probs[1:])
