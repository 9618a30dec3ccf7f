import math

import numpy as np
import pytest

from draftgate.stats.agreement import Grid, at_any_shift, calls_for, design
from draftgate.stats.decision import Decision, decide
from tolerances import SURE

LAYERS, ROWS, EFFECT = 2, 40, 0.45
CALLS = calls_for(EFFECT, LAYERS, ROWS, false_alarm=SURE, miss=SURE)


def coins(seed=0):
    return np.random.default_rng(seed).random((LAYERS, CALLS, ROWS)) < 0.5


def judged(drawn):
    evidence = at_any_shift(drawn, hypothesis="h")
    plan = design(Grid(*drawn.shape), false_alarm=SURE, miss=SURE)
    return decide(evidence, plan, effect=EFFECT), evidence.details


def test_fair_coins_pass():
    assert Decision.PASS == judged(coins())[0]


@pytest.mark.parametrize("lag", [1, 7, 23, ROWS - 1])
@pytest.mark.parametrize(("from_layer", "to_layer"), [(0, 0), (0, 1), (1, 0)])
@pytest.mark.parametrize("flipped", [False, True])
def test_equal_and_opposite_rows_are_found_where_they_are(lag, from_layer, to_layer, flipped):
    drawn = coins()
    drawn[to_layer, :, lag:] = drawn[from_layer, :, : ROWS - lag] ^ flipped
    if (from_layer, to_layer) == (0, 0):  # as far as the first copies go
        drawn[0, :, lag:] = (np.arange(ROWS)[lag:] // lag % 2 * flipped).astype(bool) ^ drawn[0][
            :, np.arange(ROWS)[lag:] % lag
        ]
    decision, where = judged(drawn)

    assert Decision.FAIL == decision
    assert (0, 0) == (where["calls_apart"], where["rows_apart"] % lag)


@pytest.mark.parametrize(("calls", "rows"), [(1, 0), (2, 0), (1, 5), (3, -5), (CALLS // 2, 1)])
def test_equal_calls_are_found_where_they_are(calls, rows):
    drawn = coins()
    drawn[1, calls:] = np.roll(drawn[0, : CALLS - calls], rows, axis=1)
    decision, where = judged(drawn)

    assert Decision.FAIL == decision
    assert (calls, rows) == (where["calls_apart"], where["rows_apart"])


def test_sums_are_those_of_a_plain_loop():
    drawn = coins()[:, :6, :5]
    n = Grid(*drawn.shape).meetings
    signs = np.where(drawn, 1, -1)
    found = at_any_shift(drawn, hypothesis="h")
    tails = {}
    for c, r in zip(*n.nonzero(), strict=True):
        shift = r - 4
        for a, b in np.ndindex(2, 2):
            pairs = [
                signs[a, i, j] * signs[b, i + c, j + shift]
                for i in range(6)
                for j in range(5)
                if i + c < 6 and 0 <= j + shift < 5
            ]
            assert len(pairs) == n[c, r]
            tails[c, shift, a, b] = abs(sum(pairs)) / math.sqrt(len(pairs))

    where = found.details
    share = abs(2 * found.statistic - 1) * math.sqrt(where["meetings"])
    assert max(tails.values()) == pytest.approx(share)
    assert len(tails) == Grid(*drawn.shape).looks


def test_the_fewest_calls_are_enough_and_one_less_is_not():
    enough, less = (
        design(Grid(LAYERS, calls, ROWS), false_alarm=SURE, miss=SURE).detectable for calls in (CALLS, CALLS - 1)
    )

    assert enough <= EFFECT < less


def test_p_values_of_fair_coins_are_no_smaller_than_they_say():
    values = [at_any_shift(coins(seed), hypothesis="h").p_value for seed in range(200)]

    assert sum(p <= 0.1 for p in values) <= 200 * 0.1 + 4.75 * math.sqrt(200 * 0.09)  # SURE, one-sided


def test_nothing_to_compare_gives_no_p_value():
    found = at_any_shift(np.zeros((2, 0, 5), bool), hypothesis="h")

    assert 0 == found.n
    assert math.isnan(found.p_value)


def test_an_effect_that_no_coin_has_is_refused():
    with pytest.raises(ValueError, match="off by"):
        calls_for(0.5, LAYERS, ROWS, false_alarm=SURE, miss=SURE)
