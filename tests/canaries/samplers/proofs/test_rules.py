from __future__ import annotations

from fractions import Fraction

import pytest

from draftgate.canaries.samplers.proofs.cases import rational
from draftgate.canaries.samplers.proofs.rules import CHAINS, RULES, TREES, drawn, drawn_without_replacement, likeliest
from draftgate.engine.tree import DraftTree
from draftgate.engine.verification.base import Rule

Q = rational([Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 6)])


def test_every_rule_of_the_engine_is_proved():
    assert set(Rule) == {proved.rule for proved in RULES.values()}


@pytest.mark.parametrize("how", ["with replacement", "without replacement", "chosen"])
@pytest.mark.parametrize("rule", [Rule.MULTI_DRAFT, Rule.TRAVERSAL])
def test_rules_for_trees_are_proved_for_each_way_to_take_siblings(rule, how):
    assert TREES == RULES[f"{rule}, {how}"].shapes


def test_rules_for_chains_meet_the_same_chains():
    assert {CHAINS} == {RULES[name].shapes for name in ("token", "block", "traversal, chains")}
    assert ["token", "block", "traversal, chains"] == [name for name, rule in RULES.items() if rule.beside_token]


def test_shapes_are_trees_of_up_to_three_levels_and_five_tokens():
    for vocabulary, parents in CHAINS + TREES:
        assert 2 <= vocabulary <= 5
        assert all(parent < node for node, parent in enumerate(parents))
        assert DraftTree(range(len(parents)), parents, None).is_chain == ((vocabulary, parents) in CHAINS)


def test_siblings_are_taken_as_their_name_says():
    assert (drawn(Q, [0, 2]) == Q).all()
    assert [0, 0, Fraction(2, 3), Fraction(1, 3)] == list(drawn_without_replacement(Q, [0]))
    assert drawn_without_replacement(Q, [0, 2, 3]) is None
    assert [0, 2, 3, 1] == [list(likeliest(Q, range(n))).index(1) for n in range(4)]
    assert likeliest(Q, range(4)) is None
