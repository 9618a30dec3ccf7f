"""The temperature of draws: found where it is known, with an interval that covers it as often as it says."""

import math

import numpy as np
import pytest

from draftgate.stats.tempering import LEAST, MOST, estimate

LAW = np.array([0.5, 0.25, 0.15, 0.1, 0.0])
OTHER = np.array([0.7, 0.2, 0.1])


def tempered(law, t):
    powered = np.where(law > 0, law, 1) ** (1 / t) * (law > 0)
    return powered / powered.sum()


def exact(t, draws=10**9):
    return [(np.round(draws * tempered(law, t)).astype(np.int64), law) for law in (LAW, OTHER)]


@pytest.mark.parametrize("t", [0.5, 0.9, 1.0, 1.1, 3.0])
def test_the_temperature_of_exact_counts_is_found(t):
    found = estimate(exact(t), confidence=0.95)

    assert t == pytest.approx(found.estimate, rel=1e-4)
    assert found.low < t < found.high


def test_the_interval_covers_as_often_as_it_says():
    rng, t, runs = np.random.default_rng(0), 1.2, 300
    found = [
        estimate([(rng.multinomial(300, tempered(law, t)), law) for law in (LAW, OTHER)], confidence=0.95)
        for _ in range(runs)
    ]

    covered = np.mean([one.low <= t <= one.high for one in found])
    assert abs(covered - 0.95) <= 5 * math.sqrt(0.95 * 0.05 / runs)


def test_more_confidence_is_a_wider_interval():
    narrow, wide = (estimate(exact(1.0, 500), confidence=c) for c in (0.5, 0.99))

    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_likeliest_token_alone_is_as_cold_as_is_told_apart():
    found = estimate([(np.array([100, 0, 0, 0, 0]), LAW)], confidence=0.95)

    assert (LEAST, LEAST) == (found.estimate, found.low)
    assert LEAST < found.high < 1


def test_even_draws_are_as_hot_as_is_told_apart():
    found = estimate([(np.array([100, 100, 100, 100, 0]), LAW)], confidence=0.95)

    assert pytest.approx(MOST) == found.high


@pytest.mark.parametrize("drawn", [[], [(np.array([5]), np.array([1.0]))], [(np.array([0, 0]), np.array([0.5, 0.5]))]])
def test_nothing_is_said_where_there_is_no_choice_or_no_draw(drawn):
    assert estimate(drawn, confidence=0.95) is None
