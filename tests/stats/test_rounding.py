from fractions import Fraction

import numpy as np
import pytest

from draftgate.stats.exact import paths
from draftgate.stats.rounding import RoundingRandomness
from draftgate.stats.symbolic import NotEnumerable


def law(run):
    """The law of `run(chance)` with a word on whether floats were met."""
    found, rounded = {}, set()
    for (outcome, inexact), mass in paths(lambda chance: (run(chance), chance.rounded), chance=RoundingRandomness):
        found[outcome] = found.get(outcome, 0) + mass
        rounded.add(inexact)
    return found, rounded


def test_a_float_counts_as_the_number_that_it_is_and_is_remembered():
    assert ({True: Fraction(0.1), False: 1 - Fraction(0.1)}, {True}) == law(lambda chance: chance.fresh() < 0.1)
    assert ({True: Fraction(1, 10), False: Fraction(9, 10)}, {False}) == law(
        lambda chance: chance.fresh() < Fraction(1, 10)
    )


def test_every_fresh_uniform_is_another():
    assert Fraction(1, 4) == law(lambda chance: (chance.fresh() < 0.5, chance.fresh() < 0.5))[0][True, True]


def test_weights_need_not_sum_to_1_and_0_never_comes():
    assert ({1: Fraction(1, 4), 2: Fraction(3, 4)}, {False}) == law(lambda chance: chance.weighted([0, 1, 3]))
    assert {0: Fraction(1)} == law(lambda chance: chance.weighted(np.array([0.3, 0.0])))[0]


@pytest.mark.parametrize("weights", [[0, 0], [1, -1], [2, -1]])
def test_what_are_no_weights_is_refused(weights):
    with pytest.raises(ValueError, match="negative or all 0"):
        law(lambda chance: chance.weighted(weights))


@pytest.mark.parametrize(("weight", "word"), [(float("nan"), "nan"), (float("inf"), "inf")])
def test_what_is_no_number_is_refused(weight, word):
    with pytest.raises(NotEnumerable, match=word):
        law(lambda chance: chance.weighted([weight, 1]))


def test_a_random_weight_is_refused():
    with pytest.raises(NotEnumerable, match="as a probability"):
        law(lambda chance: chance.weighted([chance.fresh(), 1]))
