"""Siblings that report the law at their parent, proved by enumeration; and slips, found the same way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from draftgate.canaries.samplers.proofs.cases import Case, rational
from draftgate.canaries.samplers.proofs.proof import case_of, prove_part
from draftgate.canaries.samplers.proofs.rounds import one_round
from draftgate.canaries.samplers.proofs.rules import CHOSEN, DRAWN, RULES, WITHOUT
from draftgate.engine.tree import DraftTree
from draftgate.engine.verification.base import Guarantee, RowChance, Rule
from draftgate.engine.verification.lossless import Lossless
from draftgate.engine.verification.multi_draft import MultiDraft, chosen, stated, with_replacement, without_replacement
from wrong_rules import not_renormalised, reranked, sorted_siblings, tampered, without_duplicates

CASES = 60
OF_PARENT = {drafting: drafting._replace(states_own=False) for drafting in (DRAWN, WITHOUT, CHOSEN)}


def wrong(accept, drafting, cases=CASES):
    """In how many cases the law is not the target's."""
    cases = [case_of(RULES["multi-draft, chosen"], 0, index) for index in range(cases)]
    return sum(one_round(case, drafting, accept).distance(case) > 0 for case in cases)


@pytest.mark.parametrize("name", [name for name in RULES if name.startswith("multi-draft")])
def test_siblings_leave_the_targets_law_as_it_is(name):
    assert () == prove_part(RULES[name], range(CASES), 0).failures


def test_a_law_that_the_siblings_were_not_drawn_from_is_found():
    assert 5 < wrong(MultiDraft(with_replacement).accept, OF_PARENT[WITHOUT])


@pytest.mark.parametrize(("law", "drafting"), [(without_replacement, DRAWN), (with_replacement, CHOSEN)])
def test_siblings_that_cannot_have_been_drawn_are_refused(law, drafting):
    """A duplicate where nothing is replaced, a token of no mass: such a tree is refused rather than judged."""
    with pytest.raises(ValueError, match="cannot have been drawn"):
        wrong(MultiDraft(law).accept, OF_PARENT[drafting])


def test_a_law_that_is_not_renormalised_is_found():
    assert 5 < wrong(MultiDraft(not_renormalised).accept, OF_PARENT[WITHOUT])


def test_a_slip_that_shows_as_little_as_0_0007_is_found():
    """Tens of millions of draws would be needed to see it; one enumeration shows a rational that is not 0."""
    p, q = (rational(Fraction(part, sum(parts)) for part in parts) for parts in ((9, 7, 3), (8, 6, 3)))
    laws = {(): p} | {(token,): p for token in range(3)}
    case = Case(3, (-1, 0, 0), laws, {(): q})
    found = one_round(case, OF_PARENT[WITHOUT], MultiDraft(not_renormalised).accept).distance(case)
    honest = one_round(case, OF_PARENT[WITHOUT], MultiDraft(without_replacement).accept).distance(case)

    assert honest == 0
    assert found == Fraction(3, 4522)


@pytest.mark.parametrize("change", [without_duplicates, sorted_siblings, reranked])
def test_a_draft_that_is_changed_after_drawing_is_found(change):
    assert 3 < wrong(tampered(change), DRAWN)


def test_chosen_siblings_may_be_sorted_and_left_out():
    """An innocent difference: nothing was drawn."""
    assert [0, 0] == [wrong(tampered(change), CHOSEN) for change in (sorted_siblings, reranked)]


def pair(first, second, q=(0.5, 0.3, 0.2)):
    return DraftTree(np.array([0, first, second]), (-1, 0, 0), np.tile(q, (3, 1)))


def test_siblings_without_replacement_state_what_is_left():
    assert [0.5, 0.3, 0.2] == stated(pair(0, 1), without_replacement).probs[1].tolist()
    assert [0.0, 0.6, 0.4] == pytest.approx(stated(pair(0, 1), without_replacement).probs[2])


def test_chosen_siblings_state_themselves_and_drawn_ones_the_draft():
    assert [[1, 0, 0], [0, 0, 1]] == stated(pair(0, 2), chosen).probs[1:].tolist()
    assert [[0.5, 0.3, 0.2]] * 2 == stated(pair(2, 2), with_replacement).probs[1:].tolist()


@pytest.mark.parametrize("law", [without_replacement, chosen])
def test_a_repeated_sibling_is_refused_where_nothing_is_replaced(law):
    with pytest.raises(ValueError, match=r"node 2 holds token 1, which cannot have been drawn after \[1\]"):
        stated(pair(1, 1), law)


def test_an_impossible_token_is_refused():
    with pytest.raises(ValueError, match="node 1 holds token 2"):
        stated(pair(2, 0, q=(0.5, 0.5, 0)), with_replacement)


def test_it_judges_row_by_row_and_says_what_it_promises():
    rng = np.random.default_rng(0)
    trees, probs = [pair(0, 1), pair(2, 1)], list(rng.dirichlet(np.ones(3), (2, 3)))
    chances = [RowChance(rng.random(3), rng.random()) for _ in trees]
    own = [stated(tree, without_replacement) for tree in trees]

    assert Lossless().verify(own, probs, chances) == MultiDraft(without_replacement).verify(trees, probs, chances)
    assert (Guarantee.SAME_LAW, Rule.MULTI_DRAFT) == (MultiDraft.guarantee, MultiDraft.rule)
