from __future__ import annotations

from fractions import Fraction

import pytest

from draftgate.canaries.samplers.proofs.cases import Case, random_case, rational
from draftgate.canaries.samplers.proofs.proof import token_accepted
from draftgate.canaries.samplers.proofs.rounds import drafts, one_round
from draftgate.canaries.samplers.proofs.rules import CHAINS, CHOSEN, DRAWN, TREES, WITHOUT
from draftgate.engine.verification.base import Accepted
from draftgate.engine.verification.lossless import accept
from draftgate.stats.exact import completed, enumerate_law

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
FLAT, SKEW = rational([HALF, HALF]), rational([THIRD, 1 - THIRD])
ONE_TOKEN = Case(2, (-1, 0), {(): SKEW, (0,): FLAT, (1,): FLAT}, {(): FLAT})


def test_one_drafted_token_by_hand():
    """Token 0 is kept with 2/3 of its half, token 1 always; of what is refused, all is left to token 1."""
    found = one_round(ONE_TOKEN, DRAWN, accept)

    assert HALF * 2 / 3 + HALF == found.accepted
    assert {(0,): HALF, (1,): HALF} == found.contained
    assert {(a, b): SKEW[a] * HALF for a in (0, 1) for b in (0, 1)} == found.law
    assert found.distance(ONE_TOKEN) == 0


def test_an_acceptance_that_looks_at_nothing_shows_the_drafts_law():
    found = one_round(ONE_TOKEN, DRAWN, lambda tree, probs, rng: Accepted([1], rng.draw(probs[1])))

    assert (1, HALF - THIRD) == (found.accepted, found.distance(ONE_TOKEN))


def test_noting_the_last_law_is_the_same_as_drawing_from_it():
    """The same round with every draw a fork of its own."""
    case = random_case(2, 3, CHAINS[1:2])

    def drawn(rng):
        text, tokens = (), []
        for _ in range(case.k):
            tokens.append(rng.draw(case.draft[text]))
            text = (*text, tokens[-1])
        for place, token in enumerate(tokens):
            p, q = case.target[tuple(tokens[:place])], case.draft[tuple(tokens[:place])]
            if not rng.uniform(place) * q[token] < p[token]:
                left = (p - q).clip(min=0)
                return (*tokens[:place], rng.draw(left / left.sum()))
        return (*tokens, rng.draw(case.target[text]))

    expected = completed(enumerate_law(drawn), case.target.__getitem__, length=case.k + 1)

    assert expected == one_round(case, DRAWN, accept).law


def test_drafts_come_with_their_chance_and_their_own_law():
    case = random_case(0, 1, TREES[2:3])
    listed = list(drafts(case, WITHOUT))

    assert sum(one.mass for one in listed) == 1
    for _, tree, texts in listed:
        first, second, below = texts[1:]
        assert first != second
        assert below[:1] == first
        assert tree.probs[2][first[0]] == 0
        assert (tree.probs[1] == case.draft[()]).all()


def test_a_node_that_states_the_law_at_its_parent_says_so():
    case = random_case(0, 1, TREES[:1])
    for _, tree, _ in drafts(case, WITHOUT._replace(states_own=False)):
        assert (tree.probs[1:] == case.draft[()]).all()


def test_what_cannot_be_drawn_is_left_out_with_what_hangs_below_it():
    """After a point mass nothing is left for a sibling; chosen siblings are there as long as there are tokens."""
    point = rational([Fraction(1), Fraction(0)])
    case = Case(2, (-1, 0, 0, 2), dict.fromkeys([(), (0,), (1,)], FLAT), dict.fromkeys([(), (0,), (1,)], point))

    assert [(-1, 0)] == [one.tree.parents for one in drafts(case, WITHOUT)]
    assert [(-1, 0, 0, 2)] == [one.tree.parents for one in drafts(case, CHOSEN)]


def test_a_rule_that_draws_twice_is_refused():
    def twice(tree, probs, rng):
        rng.draw(probs[0])
        return accept(tree, probs, rng)

    with pytest.raises(ValueError, match="more than one last token"):
        one_round(ONE_TOKEN, DRAWN, twice)


def test_a_rule_that_draws_nothing_is_taken_at_its_word():
    found = one_round(ONE_TOKEN, DRAWN, lambda tree, probs, rng: Accepted([], 0))

    assert THIRD * 2 == found.distance(ONE_TOKEN)


def test_the_token_rule_accepts_what_its_formula_says():
    for index in range(20):
        case = random_case(1, index, CHAINS)

        assert token_accepted(case) == one_round(case, DRAWN, accept).accepted
