import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from draftgate.stats.decision import Decision, decide
from draftgate.stats.design import ks_draws
from draftgate.stats.kolmogorov_smirnov import design, randomised_pit, uniform_ks
from tolerances import ROUNDING, SURE

EFFECT = 0.1
N = ks_draws(EFFECT, false_alarm=SURE, miss=SURE)
PLAN = design(N, false_alarm=SURE, miss=SURE)


def transformed(laws, tokens, rng):
    rows = np.arange(len(tokens))
    below = np.cumsum(laws, axis=1)[rows, tokens] - laws[rows, tokens]
    return randomised_pit(below, laws[rows, tokens], rng.random(len(tokens)))


def drawn(laws, rng):
    return np.minimum((rng.random((len(laws), 1)) > np.cumsum(laws, axis=1)).sum(axis=1), laws.shape[1] - 1)


def judge(values):
    return decide(uniform_ks(values, hypothesis="tokens follow their laws"), PLAN, effect=EFFECT)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_the_statistic_is_the_two_sided_gap(values):
    assert uniform_ks(values, hypothesis="h").statistic == pytest.approx(kstest(values, "uniform").statistic)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_the_bound_is_never_smaller_than_the_exact_p_value(values):
    exact = kstest(values, "uniform", method="exact").pvalue

    assert uniform_ks(values, hypothesis="h").p_value >= exact * (1 - ROUNDING)


def at_half_temperature(laws):
    return laws**2 / (laws**2).sum(axis=1, keepdims=True)


def test_draws_from_a_different_law_each_pass_and_a_sampler_at_the_wrong_temperature_fails():
    """At these rates right code fails this test with chance 2e-6."""
    rng = np.random.default_rng(5)
    laws = -np.sort(-rng.dirichlet(np.full(6, 1.0), size=N), axis=1)

    assert judge(transformed(laws, drawn(laws, rng), rng)) == Decision.PASS
    assert judge(transformed(laws, drawn(at_half_temperature(laws), rng), rng)) == Decision.FAIL


def test_in_vocabulary_order_a_wrong_temperature_cancels_out():
    """Why `randomised_pit` asks for the likelier tokens first."""
    rng = np.random.default_rng(5)
    laws = rng.dirichlet(np.full(6, 1.0), size=N)
    colder = transformed(laws, drawn(at_half_temperature(laws), rng), rng)

    assert uniform_ks(colder, hypothesis="h").statistic < EFFECT / 2


def test_without_the_extra_uniform_even_honest_draws_fail():
    rng = np.random.default_rng(6)
    laws = rng.dirichlet(np.full(6, 0.5), size=N)
    tokens = drawn(laws, rng)
    naive = np.cumsum(laws, axis=1)[np.arange(N), tokens].clip(0, 1)

    assert judge(naive) == Decision.FAIL


def test_rounding_does_not_push_a_transform_out_of_0_to_1():
    assert randomised_pit([1.0], [1e-16], [1.0]).tolist() == [1.0]


def test_no_values_or_a_nan_among_them_give_no_p_value():
    assert math.isnan(uniform_ks([], hypothesis="h").p_value)
    assert math.isnan(uniform_ks([0.1, math.nan, 0.7], hypothesis="h").p_value)


def test_values_outside_0_to_1_are_refused():
    with pytest.raises(ValueError, match="must lie in"):
        uniform_ks([0.5, 1.5], hypothesis="h")


def test_a_missing_uniform_is_not_filled_in():
    with pytest.raises(ValueError, match="one law, one token, one uniform"):
        randomised_pit([0.1, 0.2], [0.3, 0.3], [0.5])
