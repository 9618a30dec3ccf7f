"""Uniforms of which only comparisons are known; what would need their value is refused by type."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from draftgate.stats.exact import enumerate_law
from draftgate.stats.ratio import Ratio
from draftgate.stats.symbolic import NotEnumerable, exactly

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def law(event):
    """The law of `event(u)`, or of `event(u, v)`."""
    many = event.__code__.co_argcount - len(event.__defaults__ or ())
    return enumerate_law(lambda chance: event(*(chance.uniform(i) for i in range(many))))


@pytest.mark.parametrize(
    "event",
    [
        lambda u: 1 - u > 1 - THIRD,
        lambda u: u - THIRD < 0,
        lambda u: THIRD - u > 0,
        lambda u: u + THIRD < 2 * THIRD,
        lambda u: 1 + u < 1 + THIRD,
        lambda u: u / 3 < THIRD / 3,
        lambda u: -1 * u > -THIRD,
        lambda u: (u * 6 - 2) / 4 <= 0,
        lambda u: 2 * (1 - u) >= 2 - 2 * THIRD,
        lambda u: u < Ratio(2, 6),
    ],
)
def test_a_line_through_a_uniform_is_compared_like_the_uniform(event):
    assert {True: THIRD, False: 1 - THIRD} == law(event)


def test_a_uniform_is_compared_with_itself_and_with_lines_through_it():
    """numpy's searchsorted asks whether the key is below itself."""
    assert {(False, True, True): THIRD, (False, True, False): 1 - THIRD} == law(
        lambda u: (u < u, u <= u, 2 * u < 1 - u)  # noqa: PLR0124
    )


def test_a_line_without_slope_is_a_number():
    assert {(False, True, False): 1} == law(lambda u: (0 * u + 1 < 1, 0 * u + 1 <= 1, u * 0 > 0))


def test_bounds_without_value_decide_nothing():
    """As floats do: everything is below infinity, nothing is below NaN."""
    inf, nan = float("inf"), np.float64("nan")
    seen = law(lambda u: (u < inf, u <= inf, u > inf, u > -inf, u < nan, u > nan, u <= nan, u >= nan))

    assert {(True, True, False, True, False, False, False, False): 1} == seen


def test_arrays_are_compared_element_by_element():
    edges = np.array([Fraction(1, 4), HALF, Fraction(1)], dtype=object)

    assert {0: Fraction(1, 4), 1: Fraction(1, 4), 2: HALF} == law(lambda u: int(np.searchsorted(edges, u)))
    assert {0: Fraction(1, 4), 1: Fraction(1, 4), 2: HALF} == law(lambda u: int((u < edges).argmax()))
    assert {1: HALF, 0: HALF} == law(lambda u: int((u * edges <= edges * edges[1])[0]))


@pytest.mark.parametrize(
    "need",
    [
        float,
        int,
        round,
        bool,
        lambda u: [1, 2][u],
        lambda u: u * u < HALF,
        lambda u: u.log() * 2,
        lambda u: u**2 < HALF,
        abs,
    ],
)
def test_what_would_need_the_number_is_refused(need):
    with pytest.raises(NotEnumerable, match="random number"):
        law(lambda u, need=need: need(u))


def test_two_uniforms_in_one_comparison_are_refused():
    with pytest.raises(NotEnumerable, match="two random numbers"):
        law(lambda u, v: u < v)


def test_a_uniform_is_not_compared_once_its_logarithm_is_taken():
    def both(u):
        u.log()
        return u < HALF

    with pytest.raises(NotEnumerable, match="logarithm"):
        law(both)


def test_a_logarithm_is_not_taken_of_a_uniform_that_was_compared():
    with pytest.raises(NotEnumerable, match="used before"):
        law(lambda u: (u < HALF, u.log()))


def test_only_rational_numbers_are_exact():
    assert [HALF, Fraction(2)] == [exactly(Ratio(2, 4)), exactly(np.int64(2))]
    with pytest.raises(TypeError, match="no rational number"):
        exactly(0.5)
