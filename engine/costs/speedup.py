"""How much faster speculation is than plain decoding, told from acceptance and from what passes cost.

A round of K drafts emits E = (1 - a^(K + 1)) / (1 - a) tokens on average where each draft is kept with chance a
(Leviathan et al. 2023, equation 1). S = E / (1 + c K) takes a wider pass to be free (their theorem 3.8); with what it
really costs, S = E / (t(K + 1) / t(1) + c K). Knows no model and no clock.

When it pays: at free widths, S > 1 iff a + a^2 + ... + a^K > c K. No power is above a, so that any K asks for a > c,
and K = 1 asks for no more: some draft length pays iff the shortest does. Wider passes ask for more.
"""

from __future__ import annotations

from typing import Protocol


class Costs(Protocol):
    """What the parts of a round cost, in any unit of time that is the same for both."""

    def step(self, rows: int, width: int) -> float:
        """One pass of the target over `width` nodes in each of `rows` rows."""

    def draft(self, rows: int, length: int) -> float:
        """Drafting `length` tokens in each of `rows` rows; 0 where nothing is drafted."""


class FreeWidth:
    """The ideal: a pass costs 1 however wide, a drafted token `c`."""

    def __init__(self, c: float) -> None:
        self.c = c

    def step(self, rows: int, width: int) -> float:
        """1: memory is read once, whatever is computed meanwhile."""
        del rows, width
        return 1.0

    def draft(self, rows: int, length: int) -> float:
        """`c` a token."""
        del rows
        return self.c * length


def expected_tokens(alpha: float, k: int) -> float:
    """Tokens a round emits: 1 + a + ... + a^K, which at a = 1 is K + 1. Fractions stay fractions."""
    return sum(alpha**power for power in range(k + 1))


def ideal(alpha: float, k: int, c: float) -> float:
    """S = E / (1 + c K): wider passes cost nothing, a draft token `c` of a target pass."""
    return expected_tokens(alpha, k) / (1 + c * k)


def widened(alpha: float, k: int, c: float, wider: float) -> float:
    """S = E / (t(K + 1) / t(1) + c K), where `wider` is t(K + 1) / t(1)."""
    return expected_tokens(alpha, k) / (wider + c * k)


def pays(alpha: float, c: float) -> bool:
    """Whether some draft length is faster than none while wider passes are free: exactly a > c."""
    return alpha > c


def cost_ratio(costs: Costs, rows: int, k: int) -> float:
    """c: drafting a token, in plain steps of the target."""
    return costs.draft(rows, k) / (k * costs.step(rows, 1))


def round_cost(costs: Costs, rows: int, k: int) -> float:
    """A round of `k` drafts in plain steps: t(K + 1) / t(1) + c K. 1 at `k` = 0."""
    return (costs.step(rows, k + 1) + costs.draft(rows, k)) / costs.step(rows, 1)


def predicted(costs: Costs, alpha: float, rows: int, k: int) -> float:
    """Speed-up of rounds of `k` drafts in `rows` rows over plain decoding; 1 at `k` = 0."""
    return expected_tokens(alpha, k) / round_cost(costs, rows, k)


def best_length(costs: Costs, alpha: float, rows: int, longest: int) -> int:
    """The K up to `longest` that is fastest, the shortest of equals; 0 where none is faster than plain decoding."""
    return max(range(longest + 1), key=lambda k: predicted(costs, alpha, rows, k))


def break_even(costs: Costs, alpha: float, longest: int, most: int) -> int:
    """The break-even batch: the last one up to which some K up to `longest` pays at every batch.

    0 where none pays at batch 1; `most` where one still pays at the largest batch looked at.
    """
    lost = (rows for rows in range(1, most + 1) if not best_length(costs, alpha, rows, longest))
    return next(lost, most + 1) - 1
