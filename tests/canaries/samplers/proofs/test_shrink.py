from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from draftgate.canaries.samplers.proofs.cases import random_case
from draftgate.canaries.samplers.proofs.proof import case_of
from draftgate.canaries.samplers.proofs.rounds import one_round
from draftgate.canaries.samplers.proofs.rules import DRAWN, RULES, WITHOUT
from draftgate.canaries.samplers.proofs.samplers import torch_round
from draftgate.canaries.samplers.proofs.shrink import smallest, told
from draftgate.engine.verification.multi_draft import MultiDraft
from torch_samplers import WRONG
from wrong_rules import WRONG_BLOCKS, block, not_renormalised


def breaks(accept, drafting=DRAWN):
    return lambda case: one_round(case, drafting, accept).distance(case) > 0


def first_failing(rule, fails):
    return next(case for case in (case_of(RULES[rule], 0, index) for index in range(200)) if fails(case))


@pytest.mark.parametrize(
    ("slip", "k"), [("the last token from p", 1), ("the first refusal ends it", 2), ("weights above 1", 3)]
)
def test_the_smallest_case_fails_and_is_no_longer_than_the_slip_needs(slip, k):
    fails = breaks(partial(block, slip=WRONG_BLOCKS[slip]))
    small = smallest(first_failing("block", fails), fails)

    assert fails(small)
    assert 2 == small.vocabulary
    assert small.k <= k
    assert max(mass.denominator for law in small.target.values() for mass in law) <= 6


def test_a_slip_among_siblings_needs_two_of_them_and_three_tokens():
    fails = breaks(MultiDraft(not_renormalised).accept, WITHOUT._replace(states_own=False))
    small = smallest(first_failing("multi-draft, without replacement", fails), fails)

    assert ((-1, 0, 0), 3) == (small.parents, small.vocabulary)


def test_a_torch_sampler_is_shrunk_in_the_same_way():
    def fails(case):
        return torch_round(case, WRONG["the replacement from p"]).distance(case) > 0

    small = smallest(first_failing("token", fails), fails, most_tries=60)

    assert (1, 2) == (small.k, small.vocabulary)
    assert 3 == len(told(small))


def test_what_always_fails_becomes_the_smallest_case_there_is():
    small = smallest(random_case(0, 1, ((4, (-1, 0, 0, 1)),)), lambda case: True)

    assert ["K = 1, V = 2", "position 1: p = (1, 0)   q = (1, 0)", "position 2: p = (1, 0)"] == told(small)


def test_every_step_is_a_whole_case():
    """All laws sum to 1, and there is one for every history that the shape can meet."""
    seen = []

    def fails(case):
        seen.append(case)
        return len(seen) % 3 == 0

    smallest(random_case(0, 9, ((4, (-1, 0, 0, 1)),)), fails, most_tries=200)

    for case in seen:
        assert {Fraction(1)} == {law.sum() for laws in (case.target, case.draft) for law in laws.values()}
        assert sum(case.vocabulary**n for n in range(case.k + 1)) == len(case.target)
        assert sum(case.vocabulary**n for n in range(case.k)) == len(case.draft)
        assert one_round(case, DRAWN, RULES["traversal, with replacement"].accept).distance(case) == 0


def test_a_case_with_memory_is_told_by_history():
    lines = told(random_case(0, 1, ((2, (-1, 0)),)))

    assert ["K = 1, V = 2", "after []", "after [0]", "after [1]"] == [line.split(":")[0] for line in lines]
    assert told(random_case(0, 1, ((2, (-1, 0, 0)),)))[0].endswith("parents [-1, 0, 0]")
