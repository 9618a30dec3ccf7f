"""A proof counts what it saw, in parts that add up, and says which case refutes it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from draftgate.canaries.samplers.proofs.cases import Case, rational
from draftgate.canaries.samplers.proofs.proof import Part, case_of, failing, joined, outcome, prove_part
from draftgate.canaries.samplers.proofs.rules import RULES
from draftgate.engine.verification.base import Accepted
from draftgate.engine.verification.lossless import accept
from wrong_rules import WRONG_BLOCKS, block

WRONG = replace(RULES["block"], accept=partial(block, slip=WRONG_BLOCKS["the last token from p"]))


@pytest.mark.parametrize("name", RULES)
def test_five_hundred_cases_of_each_rule_hold(name):
    """In CI; `python -m draftgate.canaries.samplers.prove` does 10,000."""
    part = prove_part(RULES[name], range(500), 0)

    assert (500, (), "0") == (part.cases, part.failures, part.worst)


def test_parts_add_up_to_the_whole():
    whole, halves = prove_part(WRONG, range(40), 0), [prove_part(WRONG, r, 0) for r in (range(20), range(20, 40))]
    sum_of = joined(halves)

    assert (whole.cases, whole.wrong, whole.worst) == (sum_of.cases, sum_of.wrong, sum_of.worst)
    assert whole.bound == pytest.approx(sum_of.bound)
    assert len(whole.wrong) > 10


def test_a_part_is_written_and_read():
    part = prove_part(WRONG, range(10), 0)

    assert part == Part.from_json(part.to_json())


def test_each_failure_names_a_case_that_fails():
    part = prove_part(WRONG, range(20), 0)

    assert list(part.failures) == [index for index in range(20) if failing(WRONG, case_of(WRONG, 0, index))]
    assert Fraction(part.worst) == max(outcome(WRONG, case_of(WRONG, 0, index)).distance for index in range(20))


def test_more_than_any_lossless_rule_can_accept_is_seen():
    keen = replace(RULES["token"], accept=lambda tree, probs, rng: Accepted([1], rng.draw(probs[1])))
    part = prove_part(keen, range(20), 0)

    assert part.too_keen
    assert set(part.too_keen) <= set(part.wrong)


def test_a_lossless_rule_that_accepts_less_than_the_token_rule_is_seen():
    """Ignoring the draft is lossless; as a token or block rule it is none."""
    lazy = replace(RULES["block"], accept=lambda tree, probs, rng: Accepted([], rng.draw(probs[0])))
    part = prove_part(lazy, range(20), 0)

    assert part.wrong == part.too_keen == ()
    assert part.too_shy


def test_the_token_rule_must_accept_exactly_what_it_says():
    better = replace(RULES["token"], accept=RULES["block"].accept)

    assert prove_part(better, range(20), 0).too_shy
    assert not prove_part(RULES["block"], range(20), 0).too_shy


def test_the_bound_of_drawn_siblings_is_that_of_their_formula():
    """Two siblings from q: no rule accepts more than sum_x min(p(x), 1 - (1 - q(x))**2)."""
    p, q = (rational([Fraction(n, 6) for n in weights]) for weights in ((3, 3, 0), (1, 2, 3)))
    case = Case(3, (-1, 0, 0), {(): p} | {(t,): p for t in range(3)}, {(): q})

    assert (
        sum(min(a, 1 - (1 - b) ** 2) for a, b in zip(p, q, strict=True))
        == outcome(RULES["multi-draft, with replacement"], case).most
    )


def test_of_a_chosen_tree_all_that_can_be_accepted_is():
    rule = RULES["traversal, chosen"]
    found = [outcome(rule, case_of(rule, 0, index)) for index in range(30)]

    assert [one.most for one in found] == [one.accepted for one in found]
    assert accept is RULES["token"].accept
