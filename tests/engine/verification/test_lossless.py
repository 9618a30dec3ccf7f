"""The walk that the engine calls, proved by enumeration.

`accept` itself runs on Fractions and symbolic chance; the draft tokens are drawn in the same enumeration. What a round
emits, completed with the target's own law, must have the target's law exactly: not within a tolerance.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction

import numpy as np
import pytest

from draftgate.canaries.faults.verification import ResampleFromTarget
from draftgate.engine.sampling import normalised
from draftgate.engine.tree import ROOT, DraftTree
from draftgate.engine.verification.base import Accepted, Guarantee, RowChance
from draftgate.engine.verification.lossless import Lossless, accept
from draftgate.stats.acceptance import chain_law
from draftgate.stats.exact import completed, enumerate_law, joint_law, total_variation

CHAIN_1, CHAIN_2, CHAIN_3 = (-1, 0), (-1, 0, 1), (-1, 0, 1, 2)
PAIR, TRIPLE, TWO_LEVELS, BUSHY = (-1, 0, 0), (-1, 0, 0, 0), (-1, 0, 0, 1), (-1, 0, 0, 1, 1)
SEED = 20261130


def fraction_law(rng, vocab):
    """A law with small weights: zeros, ties and point masses are common."""
    weights = rng.integers(0, 4, size=vocab)
    weights[rng.integers(vocab)] += 1
    return np.array([Fraction(int(weight), int(weights.sum())) for weight in weights], dtype=object)


class Laws(dict):
    """A law for every history, made when it is first asked for; the same ever after."""

    def __init__(self, make):
        super().__init__()
        self._make = make

    def __missing__(self, history):
        self[history] = self._make(history)
        return self[history]


def disjoint(p):
    """Mass only where `p` has none; `p` itself where there is no such place."""
    free = np.array([Fraction(int(x == 0)) for x in p], dtype=object)
    return free / free.sum() if free.sum() else p


def pair_of_laws(rng, vocab, kind):
    target = Laws(lambda _: fraction_law(rng, vocab))
    draft = {
        "random": Laws(lambda _: fraction_law(rng, vocab)),
        "equal": target,
        "disjoint": Laws(lambda history: disjoint(target[history])),
    }[kind]
    return target, draft


def point(token, vocab):
    return np.array([Fraction(int(token == other)) for other in range(vocab)], dtype=object)


def with_replacement(law, earlier):
    del earlier
    return law


def without_replacement(law, earlier):
    """The law given the siblings drawn before; None where nothing is left to draw."""
    left = law.copy()
    left[list(earlier)] = Fraction(0)
    return left / left.sum() if left.sum() else None


def chosen(law, earlier):
    """The next most probable token, chosen and not drawn: a point mass."""
    ranked = sorted(range(len(law)), key=lambda token: (-law[token], token))
    return point(ranked[len(earlier)], len(law)) if len(earlier) < len(law) else None


def grown(shape, draft, sibling_law, rng):
    """A tree of this shape, its tokens drawn from the law that each node states; nodes without one are left out."""
    tokens, parents, laws, histories, number = [0], [-1], [None], [()], {0: 0}
    for place, above in enumerate(shape[1:], start=1):
        if above not in number:
            continue
        parent = number[above]
        earlier = [tokens[node] for node, other in enumerate(parents) if other == parent]
        law = sibling_law(draft[histories[parent]], earlier)
        if law is None:
            continue
        number[place] = len(tokens)
        tokens.append(rng.draw(law))
        parents.append(parent)
        laws.append(law)
        histories.append((*histories[parent], tokens[-1]))
    laws[0] = laws[-1] if len(laws) > 1 else draft[()]
    return DraftTree(np.array(tokens), tuple(parents), np.array(laws, dtype=object)), histories


def depth(shape):
    steps = [0]
    for parent in shape[1:]:
        steps.append(steps[parent] + 1)
    return max(steps)


def distance(shape, laws, sibling_law, walk=accept):
    """How far the law of the first K + 1 tokens is from the target's."""
    target, draft = laws

    def one_round(rng):
        tree, histories = grown(shape, draft, sibling_law, rng)
        probs = np.array([target[history] for history in histories], dtype=object)
        path, last = walk(tree, probs, rng)
        return (*tree.tokens[path].tolist(), last)

    length = depth(shape) + 1
    seen = completed(enumerate_law(one_round), target.__getitem__, length=length)
    return total_variation(seen, joint_law(target.__getitem__, length=length))


def pairs(count, vocab, seed=SEED):
    """`count` pairs of laws, a fifth of them equal and a fifth disjoint."""
    rng = np.random.default_rng(seed)
    kinds = ("random", "equal", "random", "disjoint", "random")
    return [pair_of_laws(rng, vocab, kinds[index % len(kinds)]) for index in range(count)]


def distances(count, vocab, shape, sibling_law, walk=accept):
    return [distance(shape, laws, sibling_law, walk) for laws in pairs(count, vocab)]


@pytest.mark.parametrize(
    ("count", "vocab", "shape"), [(100, 5, CHAIN_1), (150, 3, CHAIN_2), (60, 4, CHAIN_2), (60, 3, CHAIN_3)]
)
def test_a_chain_leaves_the_targets_law_exactly_as_it_is(count, vocab, shape):
    assert [0] * count == distances(count, vocab, shape, with_replacement)


@pytest.mark.parametrize("sibling_law", [with_replacement, without_replacement, chosen])
@pytest.mark.parametrize(
    ("count", "vocab", "shape"), [(60, 4, PAIR), (30, 3, TRIPLE), (40, 3, TWO_LEVELS), (20, 3, BUSHY)]
)
def test_siblings_leave_the_targets_law_exactly_as_it_is(count, vocab, shape, sibling_law):
    """Drawn duplicates stay in the tree, each with its own chance to be accepted."""
    assert [0] * count == distances(count, vocab, shape, sibling_law)


@pytest.mark.parametrize("walk", [accept, ResampleFromTarget().walk], ids=["honest", "resampled"])
def test_a_replacement_drawn_from_p_is_caught(walk):
    wrong = sum(d > 0 for d in distances(50, 3, CHAIN_2, with_replacement, walk))

    assert (wrong == 0) == (walk is accept)


def against_the_first_p(tree, probs, rng):
    """Wrong: every sibling is tested against p as it was before the first was rejected."""
    path, p, untouched = [], probs[ROOT], probs[ROOT]
    waiting = deque(tree.children(ROOT))
    while waiting:
        child = waiting.popleft()
        token, q = tree.tokens[child], tree.probs[child]
        if rng.uniform(child) * q[token] < untouched[token]:
            path, p, waiting = [*path, child], probs[child], deque(tree.children(child))
            untouched = p
        elif (p - q).clip(min=0).sum():
            p = normalised((p - q).clip(min=0))
    return Accepted(path, rng.draw(p))


def test_a_sibling_tested_against_the_first_p_is_caught():
    """On chains, where no node has siblings, that walk is right, and is found to be."""
    assert [0] * 50 == distances(50, 3, CHAIN_2, with_replacement, against_the_first_p)
    assert 10 < sum(d > 0 for d in distances(50, 3, PAIR, with_replacement, against_the_first_p))


def unseen(tree, probs, rng):
    """Wrong: the first child is taken without looking."""
    return Accepted([1], rng.draw(probs[1])) if tree.drafted else accept(tree, probs, rng)


def test_a_first_child_accepted_unseen_is_caught():
    found = distances(50, 3, CHAIN_1, with_replacement, unseen)

    assert 25 < sum(d > 0 for d in found)


def test_chosen_siblings_that_claim_to_be_drawn_are_caught():
    """Top-k children state q although nothing was drawn from it."""

    def claims_q(tree, probs, rng):
        law = np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], dtype=object)
        return accept(DraftTree(tree.tokens, tree.parents, np.array([law] * len(tree.parents))), probs, rng)

    assert 25 < sum(d > 0 for d in distances(50, 3, PAIR, chosen, claims_q))


def test_a_duplicate_dropped_after_drawing_is_caught():
    def without_duplicates(tree, probs, rng):
        tokens = tree.tokens.tolist()
        kept = [node for node, token in enumerate(tokens) if node == ROOT or token not in tokens[1:node]]
        thinned = DraftTree(tree.tokens[kept], tuple(tree.parents[node] for node in kept), tree.probs[kept])
        path, last = accept(thinned, probs[kept], rng)
        return Accepted([kept[node] for node in path], last)

    assert 5 < sum(d > 0 for d in distances(50, 4, PAIR, with_replacement, without_duplicates))


@pytest.mark.parametrize("shape", [CHAIN_1, CHAIN_2])
def test_accepted_lengths_have_the_law_of_the_token_rule(shape):
    target, draft = pairs(1, 3)[0]
    k = depth(shape)

    def table(laws, place):
        histories = np.ndindex(*(3,) * place)
        return np.array([laws[history] for history in histories], dtype=object).reshape((3,) * (place + 1))

    def length(rng):
        tree, histories = grown(shape, draft, with_replacement, rng)
        return len(accept(tree, np.array([target[h] for h in histories], dtype=object), rng).path)

    expected = chain_law([table(target, i) for i in range(k)], [table(draft, i) for i in range(k)])

    assert {n: mass for n, mass in enumerate(expected) if mass} == enumerate_law(length)


def floats(*rows):
    return np.array(rows, np.float64)


def siblings(tokens, laws):
    return DraftTree(np.array([0, *tokens]), (-1, *[0] * len(tokens)), np.concatenate((floats([0, 0, 0]), laws)))


def chance(*accepts, final=0.0):
    return RowChance(np.array([0.0, *accepts]), final)


def test_a_rejected_sibling_is_not_drawn_again():
    """Once a chosen sibling is rejected its mass is gone: whatever the last uniform, another token comes."""
    tree, p = siblings([0], floats([1, 0, 0])), np.tile(floats([0.5, 0.25, 0.25]), (2, 1))

    assert [Accepted([], 1), Accepted([], 2)] == [accept(tree, p, chance(0.9, final=u)) for u in (0.0, 0.999)]
    assert Accepted([1], 0) == accept(tree, p, chance(0.1))


def test_the_accepted_path_goes_down_from_the_accepted_child():
    laws = floats([1, 0, 0], [0, 1, 0], [0, 0, 1])
    tree = DraftTree(np.array([0, 0, 1, 2]), (-1, 0, 0, 2), np.concatenate((floats([0, 0, 0]), laws)))
    p = floats([0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0])

    assert Accepted([2, 3], 0) == accept(tree, p, chance(0.0, 0.5, 0.5))


def test_greedy_needs_no_branch_of_its_own():
    """With one-hot laws no uniform matters: the draft is accepted where it is the target's own token."""
    tree = DraftTree.chain(0, np.array([2, 1]), floats([0, 0, 1], [0, 1, 0]))
    p = floats([0, 0, 1], [1, 0, 0], [0, 1, 0])

    assert {Accepted([1], 0).last} == {accept(tree, p, chance(u, u, final=u)).last for u in (0.0, 0.5, 1 - 2.0**-53)}
    assert [1] == accept(tree, p, chance(0.999, 0.0)).path


def test_a_bare_tree_gives_an_ordinary_step():
    assert Accepted([], 1) == accept(DraftTree.bare(0, 3), floats([0, 1, 0]), chance(final=0.7))


def test_a_residual_without_mass_raises():
    """A law that says more than it holds: nothing is left of p, and no token may be made up."""
    tree = siblings([0], floats([1, 1, 1]))

    with pytest.raises(ZeroDivisionError, match="without mass"):
        accept(tree, np.tile(floats([0.5, 0.25, 0.25]), (2, 1)), chance(0.9))


def test_the_verifier_walks_row_by_row_and_refuses_rows_without_a_partner():
    trees = [DraftTree.bare(0, 3), siblings([0], floats([1, 0, 0]))]
    probs = [floats([0, 1, 0]), np.tile(floats([1, 0, 0]), (2, 1))]
    chances = [chance(), chance(0.5)]

    assert [accept(*row) for row in zip(trees, probs, chances, strict=True)] == Lossless().verify(trees, probs, chances)
    assert Guarantee.SAME_LAW == Lossless().guarantee
    with pytest.raises(ValueError, match="argument"):
        Lossless().verify(trees, probs, chances[:1])
