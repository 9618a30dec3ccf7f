import math

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from draftgate.stats.chi_square import SMALL, design, draws, expected_floor, goodness_of_fit
from draftgate.stats.decision import Decision, decide
from draftgate.stats.design import chi_square_draws
from tolerances import ROUNDING, SURE

LAW = np.array([0.4, 0.3, 0.2, 0.1])


def fit(counts, law=LAW, floor=5.0):
    return goodness_of_fit(counts, law, hypothesis="draws follow the law", floor=floor)


def test_the_statistic_and_tail_are_pearsons():
    expected = chisquare([44, 25, 22, 9], 100 * LAW)
    seen = fit([44, 25, 22, 9])

    assert seen.statistic == pytest.approx(expected.statistic, rel=ROUNDING)
    assert seen.p_value == pytest.approx(expected.pvalue, rel=ROUNDING)


def test_under_the_strict_floor_the_p_value_is_doubled():
    counts = [4400, 2800, 1900, 900]

    assert fit(counts, floor=100).p_value == pytest.approx(2 * fit(counts, floor=5).p_value, rel=ROUNDING)
    assert fit([4000, 3000, 2000, 1000], floor=100).p_value == 1


def test_small_rates_ask_for_a_hundred_in_each_cell():
    assert expected_floor(1e-6) == 100
    assert expected_floor(SMALL) == 5


def test_the_honest_sampler_passes_and_a_tilted_one_fails():
    """At these rates right code fails this test with chance 1e-6 + 1e-6."""
    rng, effect = np.random.default_rng(3), 0.05
    n = draws(LAW, effect=effect, false_alarm=SURE, miss=SURE)
    plan = design(n, LAW, false_alarm=SURE, miss=SURE)
    tilted = LAW + effect * np.array([1, -1, 0, 0])

    assert decide(fit(rng.multinomial(n, LAW), floor=100), plan, effect=effect) == Decision.PASS
    assert decide(fit(rng.multinomial(n, tilted), floor=100), plan, effect=effect) == Decision.FAIL


def test_the_design_is_held_to_half_the_share_where_the_p_value_is_doubled():
    n = draws(LAW, effect=0.05, false_alarm=1e-6, miss=1e-3)

    assert chi_square_draws(0.05, 4, false_alarm=5e-7, miss=1e-3) == n
    assert design(n, LAW, false_alarm=1e-6, miss=1e-3).detectable <= 0.05
    assert design(n - 100, LAW, false_alarm=1e-6, miss=1e-3).detectable > 0.05


def test_the_whole_share_is_used_where_the_p_value_is_not_doubled():
    n = draws(LAW, effect=0.05, false_alarm=SMALL, miss=1e-3)

    assert chi_square_draws(0.05, 4, false_alarm=SMALL, miss=1e-3) == n


def test_the_designed_draws_suffice_when_cells_are_merged():
    law = np.concatenate([[0.5, 0.4], np.full(200, 0.1 / 200)])
    n = draws(law, effect=0.05, false_alarm=1e-6, miss=1e-3)
    plan = design(n, law, false_alarm=1e-6, miss=1e-3)

    assert plan.detectable < 0.05
    assert plan.effect_unit == "total variation after merging"


def test_a_fault_inside_the_merged_cell_stays_hidden():
    """What the unit of the design warns of: a tenth of the mass sits on other thin tokens, and nothing shows."""
    law = np.concatenate([[0.5, 0.4], np.full(200, 0.1 / 200)])
    counts = np.zeros(202, dtype=int)
    counts[:3] = 500, 400, 100

    assert fit(counts, law).p_value == 1
    assert fit(counts, law).details["pooled_mass"] == pytest.approx(0.1)


def test_thin_cells_do_not_raise_false_alarms():
    """Two hundred cells expect a tenth of a draw each: merged, alarms at a nominal 1e-2 stay within 2e-2."""
    law = np.concatenate([[0.5, 0.4], np.full(200, 0.1 / 200)])
    counts = np.random.default_rng(4).multinomial(200, law, size=2000)
    alarms = sum(fit(row, law).p_value <= 1e-2 for row in counts)

    assert alarms <= binom.isf(SURE, 2000, 2e-2)


def test_details_tell_what_pooling_cost():
    seen = fit([61, 35, 3, 1], np.array([0.6, 0.36, 0.03, 0.01]))

    assert seen.details["cells"] == 2
    assert seen.details["pooled_mass"] == pytest.approx(0.4)
    assert seen.details["total_variation"] == pytest.approx(0.01)


def test_no_draws_give_no_p_value():
    seen = fit([0, 0, 0, 0])

    assert seen.n == 0
    assert math.isnan(seen.p_value)


def test_a_point_mass_can_neither_fail_nor_pass():
    law = np.array([0.0, 1.0])
    plan = design(100, law, false_alarm=1e-6, miss=1e-3)

    assert decide(fit([0, 100], law), plan, effect=1.0) == Decision.INCONCLUSIVE


def test_a_draw_outside_the_support_is_not_for_this_test():
    with pytest.raises(ValueError, match="test the support"):
        fit([1, 100], np.array([0.0, 1.0]))
