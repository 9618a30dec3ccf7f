from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.engine.costs.speedup import (
    FreeWidth,
    best_length,
    break_even,
    cost_ratio,
    expected_tokens,
    ideal,
    pays,
    predicted,
    round_cost,
    widened,
)
from tolerances import ROUNDING

shares = st.fractions(min_value=0, max_value=1, max_denominator=64)
lengths = st.integers(1, 12)


class Steep:
    """A pass costs as many steps as it has nodes above a free width, like a device that computes all the time."""

    def __init__(self, free: int, c: float) -> None:
        self.free, self.c = free, c

    def step(self, rows: int, width: int) -> float:
        return max(1.0, rows * width / self.free)

    def draft(self, rows: int, length: int) -> float:
        return self.c * length * max(1.0, rows / self.free)


def test_the_seeds_figure_of_tokens_a_round() -> None:
    assert expected_tokens(Fraction(8, 10), 4) == Fraction(33616, 10000)
    assert f"{expected_tokens(0.8, 4):.2f}" == "3.36"


@given(shares.filter(lambda a: a < 1), lengths)
def test_the_sum_is_the_closed_form(alpha: Fraction, k: int) -> None:
    assert expected_tokens(alpha, k) == (1 - alpha ** (k + 1)) / (1 - alpha)


def test_all_kept_is_a_round_of_all() -> None:
    assert expected_tokens(1.0, 5) == 6
    assert expected_tokens(0.0, 5) == 1


@given(shares, shares, lengths)
def test_a_round_emits_what_a_walk_along_every_outcome_says(alpha: Fraction, c: Fraction, k: int) -> None:
    walked = sum((kept + 1) * alpha**kept * (1 - alpha) for kept in range(k)) + (k + 1) * alpha**k
    assert expected_tokens(alpha, k) == walked
    assert ideal(alpha, k, c) == walked / (1 + c * k) == widened(alpha, k, c, 1)


@given(shares, shares)
def test_at_one_draft_speculation_pays_exactly_above_its_cost(alpha: Fraction, c: Fraction) -> None:
    assert (ideal(alpha, 1, c) > 1) == pays(alpha, c)


@given(shares, shares, lengths)
def test_no_length_pays_at_or_below_its_cost(alpha: Fraction, c: Fraction, k: int) -> None:
    assert pays(alpha, c) or ideal(alpha, k, c) <= 1


def test_above_its_cost_a_long_draft_need_not_pay() -> None:
    assert pays(0.5, 0.4)
    assert ideal(0.5, 1, 0.4) > 1 > ideal(0.5, 8, 0.4)


def test_at_one_draft_a_wider_pass_asks_for_as_much_more_acceptance() -> None:
    alpha, c = Fraction(1, 2), Fraction(1, 4)
    assert widened(alpha, 1, c, 1 + alpha - c) == 1
    assert widened(alpha, 1, c, 1 + alpha - c - Fraction(1, 100)) > 1


def test_parts_of_a_round_give_the_formula() -> None:
    costs = Steep(free=8, c=0.1)
    assert cost_ratio(costs, 2, 4) == pytest.approx(0.1, rel=ROUNDING)
    assert round_cost(costs, 2, 4) == pytest.approx(10 / 8 + 0.4, rel=ROUNDING)
    assert predicted(costs, 0.8, 2, 4) == pytest.approx(widened(0.8, 4, 0.1, 10 / 8), rel=ROUNDING)
    assert predicted(costs, 0.8, 2, 0) == 1


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_best_length_is_no_slower_than_any(alpha: float, c: float) -> None:
    costs = FreeWidth(c)
    best = best_length(costs, alpha, 1, 12)
    assert all(predicted(costs, alpha, 1, best) >= predicted(costs, alpha, 1, k) for k in range(13))
    assert (best > 0) == (predicted(costs, alpha, 1, 1) > 1)


def test_the_best_length_grows_with_acceptance_and_falls_with_cost() -> None:
    assert [best_length(FreeWidth(0.1), alpha, 1, 20) for alpha in (0.05, 0.5, 0.8, 0.95)] == [0, 2, 6, 15]
    assert best_length(FreeWidth(0.01), 0.8, 1, 20) > best_length(FreeWidth(0.3), 0.8, 1, 20)


def test_break_even_is_the_last_batch_at_which_a_length_pays() -> None:
    costs = Steep(free=64, c=0.05)
    last = break_even(costs, 0.8, 4, 256)
    assert 1 < last < 256
    assert best_length(costs, 0.8, last, 4) > 0
    assert best_length(costs, 0.8, last + 1, 4) == 0


def test_break_even_ends_at_what_was_looked_at() -> None:
    assert break_even(FreeWidth(0.1), 0.8, 4, 32) == 32
    assert break_even(FreeWidth(0.9), 0.8, 4, 32) == 0
