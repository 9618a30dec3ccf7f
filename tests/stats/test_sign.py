"""The sign test is exact, and its design keeps what it promises."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from draftgate.stats import sign
from draftgate.stats.decision import Decision, decide

WORDS = "no more often here than there"


def p_value(alone, other, n=100):
    return sign.excess(alone, other, n, hypothesis=WORDS).p_value


def test_the_p_value_is_that_of_all_ways_to_toss_the_pairs_that_differ():
    for differ in range(1, 9):
        tosses = [sum(toss) for toss in product((0, 1), repeat=differ)]
        for alone in range(differ + 1):
            assert math.isclose(np.mean([t >= alone for t in tosses]), p_value(alone, differ - alone))


def test_where_no_pair_differs_nothing_speaks_against_it():
    assert 1.0 == p_value(0, 0)


def test_no_pairs_are_no_evidence():
    assert math.isnan(sign.excess(0, 0, 0, hypothesis=WORDS).p_value)


@pytest.mark.parametrize(("alone", "other", "n"), [(-1, 0, 3), (0, -1, 3), (2, 2, 3)])
def test_counts_that_cannot_be_are_refused(alone, other, n):
    with pytest.raises(ValueError, match="cannot differ"):
        sign.excess(alone, other, n, hypothesis=WORDS)


@pytest.mark.parametrize("other", [0, 3, 20])
@pytest.mark.parametrize("false_alarm", [1e-7, 1e-3])
def test_a_fault_of_the_detectable_rate_is_missed_as_seldom_as_planned(other, false_alarm):
    n, miss = 300, 1e-3
    planned = sign.design(n, other, false_alarm=false_alarm, miss=miss)
    caught = next(k for k in range(n) if p_value(k, other, n) <= false_alarm)

    missed = binom.cdf(caught - 1, n - other, planned.detectable)

    assert math.isclose(miss, missed, rel_tol=1e-6)
    assert p_value(caught - 1, other, n) > false_alarm


def test_fewer_pairs_than_could_ever_alarm_see_nothing():
    assert math.inf == sign.design(20, 0, false_alarm=1e-7, miss=1e-3).detectable


def test_the_decision_is_open_where_the_effect_is_not_seen():
    planned = sign.design(40, 0, false_alarm=1e-7, miss=1e-3)
    quiet, loud = (sign.excess(alone, 0, 40, hypothesis=WORDS) for alone in (0, 30))

    assert Decision.INCONCLUSIVE is decide(quiet, planned, effect=0.2)
    assert Decision.FAIL is decide(loud, planned, effect=0.2)
    assert Decision.PASS is decide(quiet, planned, effect=0.99)
