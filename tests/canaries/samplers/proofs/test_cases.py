from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from draftgate.canaries.samplers.proofs.cases import KINDS, Case, histories, random_case, rational
from draftgate.canaries.samplers.proofs.rules import CHAINS, TREES
from draftgate.stats.exact import joint_law

MANY = [random_case(0, index, CHAINS + TREES) for index in range(160)]


def test_every_history_that_a_draft_can_meet_has_its_law():
    for case in MANY:
        assert set(histories(case.vocabulary, case.k + 1)) == set(case.target)
        assert set(histories(case.vocabulary, case.k)) == set(case.draft)


def test_laws_are_rational_and_sum_to_1():
    masses = [law for case in MANY for law in (*case.target.values(), *case.draft.values())]

    assert {Fraction(1)} == {law.sum() for law in masses}
    assert min(mass for law in masses for mass in law) == 0


def test_all_that_laws_may_be_to_each_other_comes():
    pairs = [(case.target[()], case.draft[()]) for case in MANY]

    assert any((p == q).all() for p, q in pairs)
    assert any(not (p * q).any() for p, q in pairs)
    assert any(sorted(p) == sorted(q) and (p != q).any() for p, q in pairs)
    assert any(max(p) == 1 and max(q) < 1 for p, q in pairs)
    assert any(max(q) == 1 and max(p) < 1 for p, q in pairs)
    assert any(p.all() and q.all() for p, q in pairs)
    assert any(len(set(p)) < len(p) for p, q in pairs)
    assert 8 == len(KINDS)


def test_all_sizes_come():
    assert {2, 3, 4, 5} == {case.vocabulary for case in MANY}
    assert {1, 2, 3} == {case.k for case in MANY}
    assert {parents for _, parents in CHAINS + TREES} == {case.parents for case in MANY}


def test_a_case_depends_on_its_number_alone():
    assert MANY[17].to_json() == random_case(0, 17, CHAINS + TREES).to_json()
    assert MANY[17].to_json() != random_case(1, 17, CHAINS + TREES).to_json()


def test_a_case_is_written_and_read():
    assert MANY[3].to_json() == Case.from_json(MANY[3].to_json()).to_json()


def test_what_plain_decoding_does_is_known_exactly():
    case = MANY[5]

    assert joint_law(case.target.__getitem__, length=case.k + 1) == case.joint
    assert pytest.approx(1) == float(sum(mass for text, mass in case.prefixes.items() if len(text) == 1))
    assert list(case.target[()]) == [case.prefixes.get((token,), 0) for token in range(case.vocabulary)]


def test_the_swift_laws_are_the_laws():
    for case in MANY[:20]:
        for swift, laws in zip(case.swift, (case.target, case.draft), strict=True):
            assert all((law == laws[text]).all() for text, law in swift.items())


def test_an_array_of_fractions_is_not_rounded():
    law = rational([Fraction(1, 3), Fraction(2, 3)])

    assert np.dtype(object) == law.dtype
    assert Fraction(1, 3) == law[0]
