import math

import numpy as np
import pytest
from scipy.stats import binom

from draftgate.stats.e_process import evidence, log_wealth
from tolerances import ROUNDING, SURE

LAW = np.array([0.4, 0.3, 0.2, 0.1])
WEIGHTS = (50.0, 500.0, 5000.0)


def test_without_draws_nothing_is_won_or_lost():
    assert log_wealth([0, 0, 0, 0], LAW, weights=WEIGHTS) == pytest.approx(0, abs=ROUNDING)
    assert math.isnan(evidence(0.0, 0, hypothesis="").p_value)


def test_the_mean_wealth_under_the_law_is_one():
    """All outcomes of four draws from a coin, each with its exact chance."""
    law = np.array([0.3, 0.7])
    wealth = [math.exp(log_wealth([k, 4 - k], law, weights=(1.0, 9.0))) * binom.pmf(k, 4, 0.3) for k in range(5)]

    assert sum(wealth) == pytest.approx(1, rel=ROUNDING)


def test_a_draw_that_the_law_rules_out_is_proof():
    assert log_wealth([1, 99], np.array([0.0, 1.0]), weights=WEIGHTS) == math.inf
    assert evidence(math.inf, 100, hypothesis="").p_value == 0


def test_a_wrong_law_is_found_and_the_right_one_is_not():
    """At these rates right code fails this test with chance 1e-6 and, measured, far less for the miss."""
    rng = np.random.default_rng(0)
    right = rng.multinomial(20_000, LAW)
    wrong = rng.multinomial(20_000, LAW + 0.05 * np.array([1, -1, 0, 0]))

    assert evidence(log_wealth(right, LAW, weights=WEIGHTS), 20_000, hypothesis="").p_value > SURE
    assert evidence(log_wealth(wrong, LAW, weights=WEIGHTS), 20_000, hypothesis="").p_value <= SURE


def test_honest_runs_looked_at_all_the_time_rarely_alarm():
    """Of 400 honest runs watched at 20 times, at most one in twenty may ever pass 20, up to chance."""
    rng = np.random.default_rng(1)
    draws = rng.multinomial(50, LAW, size=(400, 20)).cumsum(axis=1)
    alarms = sum(max(log_wealth(c, LAW, weights=WEIGHTS) for c in run) >= math.log(20) for run in draws)

    assert alarms <= binom.isf(SURE, 400, 0.05)
