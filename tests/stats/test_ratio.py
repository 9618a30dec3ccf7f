from fractions import Fraction
from numbers import Rational

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.stats.ratio import Ratio, ratios

wholes = st.integers(-50, 50)
parts = st.tuples(wholes, st.integers(1, 50))
others = st.one_of(wholes, parts.map(lambda n: Ratio(*n)), parts.map(lambda n: Fraction(*n)))


def fraction(number):
    return Fraction(number.numerator, number.denominator)


@given(parts, others)
def test_arithmetic_is_that_of_fractions(one, other):
    ratio, exact = Ratio(*one), Fraction(*one)

    assert [exact + fraction(other), exact - fraction(other), exact * fraction(other), -exact] == [
        fraction(number) for number in (ratio + other, ratio - other, ratio * other, -ratio)
    ]
    assert [fraction(other) + exact, fraction(other) - exact, fraction(other) * exact] == [
        fraction(number) for number in (other + ratio, other - ratio, other * ratio)
    ]
    if other > 0:
        assert exact / fraction(other) == fraction(ratio / other)
    if ratio > 0:
        assert fraction(other) / exact == fraction(other / ratio)


@given(parts, others)
def test_order_is_that_of_fractions(one, other):
    ratio, exact, beside = Ratio(*one), Fraction(*one), fraction(other)

    assert [exact < beside, exact <= beside, exact > beside, exact >= beside, exact == beside, bool(exact)] == [
        ratio < other,
        ratio <= other,
        ratio > other,
        ratio >= other,
        ratio == other,
        bool(ratio),
    ]


def test_equal_numbers_hash_alike():
    assert 1 == len({Ratio(1, 2), Ratio(2, 4), Fraction(1, 2)})


def test_a_law_keeps_one_denominator():
    law = ratios([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])

    assert {6} == {mass.denominator for mass in law}
    assert 6 == law.sum().denominator
    assert 3 == (law / law[:2].sum())[0].numerator


def test_it_works_in_arrays_as_the_walk_uses_them():
    p, q = ratios([Fraction(3, 4), Fraction(1, 4)]), ratios([Fraction(1, 3), Fraction(2, 3)])
    left = (p - q).clip(min=0)

    assert [Fraction(1), 0] == list(left / left.sum())
    assert Fraction(1, 4) == Fraction(1, 3) * p[0] * 1 == (Ratio(1, 3) * p)[0]


@pytest.mark.parametrize("step", [lambda a: a + 0.5, lambda a: 0.5 * a, lambda a: a < 0.5, lambda a: a / 0.5, float])
def test_floats_are_refused(step):
    with pytest.raises(TypeError):
        step(Ratio(1, 2))


@pytest.mark.parametrize("other", [0, -1, Ratio(0, 3)])
def test_it_is_divided_by_positive_numbers_only(other):
    with pytest.raises(ZeroDivisionError, match="positive"):
        Ratio(1, 2) / other


def test_a_fraction_never_takes_it_for_reduced():
    """Fraction compares numerator with numerator where it is told of a rational number."""
    assert not isinstance(Ratio(1, 2), Rational)
    assert Fraction(1, 2) == Ratio(2, 4)
    assert np.array([Ratio(1, 2)]).dtype == object


def test_it_shows_what_it_holds():
    assert repr(Ratio(2, 4)) == "Ratio(2, 4)"
