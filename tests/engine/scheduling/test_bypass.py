from __future__ import annotations

import numpy as np
import pytest

from draftgate.engine.costs.speedup import break_even, predicted
from draftgate.engine.scheduling.bypass import Always, Bypass, Estimate, Kept, Never
from tolerances import ROUNDING


class Steep:
    """A pass costs as many steps as it has nodes above a free width."""

    def step(self, rows: int, width: int) -> float:
        return max(1.0, rows * width / 64)

    def draft(self, rows: int, length: int) -> float:
        return 0.05 * length * max(1.0, rows / 64)


def estimate(prior: float = 0.8, weight: float = 16, memory: float = 64) -> Estimate:
    return Estimate(prior=prior, weight=weight, memory=memory)


def bypass(margin: float = 0.05, longest: int = 4, **numbers: float) -> Bypass:
    return Bypass(costs=Steep(), longest=longest, acceptance=estimate(**numbers), margin=margin)


def test_always_and_never_are_the_same_at_any_batch() -> None:
    assert [Always(3).length(batch) for batch in (1, 64)] == [3, 3]
    assert [Never().length(batch) for batch in (1, 64)] == [0, 0]
    assert Always(3).limits(["a", "b"], 3) == [3, 3]


def test_it_drafts_below_the_break_even_batch_and_not_above() -> None:
    last = bypass().break_even(256)
    assert last == break_even(Steep(), 0.8, 4, 256)
    assert 1 < last < 64
    assert bypass(margin=0.0).length(last) > 0
    assert bypass(margin=0.0).length(last + 1) == 0
    assert bypass().length(1) == 4


def test_a_batch_that_wavers_about_break_even_does_not_switch() -> None:
    policy, without = bypass(), bypass(margin=0.0)
    last = policy.break_even(256)
    wavering = [last, last + 1] * 20
    assert {policy.length(batch) > 0 for batch in wavering} == {False}
    assert {without.length(batch) > 0 for batch in wavering} == {False, True}


def test_what_is_on_stays_on_until_it_stops_to_pay() -> None:
    policy = bypass()
    last = policy.break_even(256)
    assert policy.length(1) > 0
    assert all(policy.length(batch) > 0 for batch in range(1, last + 1))
    assert policy.length(last + 1) == 0
    assert policy.length(last) == 0  # pays, but not by the margin


def test_a_length_that_pays_is_left_only_for_one_that_gains_the_margin() -> None:
    policy = bypass(margin=0.1)
    used = policy.length(1)
    for batch in range(2, policy.break_even(256) + 1):
        now = policy.length(batch)
        best = max(predicted(Steep(), 0.8, batch, k) for k in range(5))
        assert predicted(Steep(), 0.8, batch, now) * 1.1 > best
        used = now
    assert used > 0


def test_drafts_that_are_rejected_turn_it_off_and_time_turns_it_on_again() -> None:
    policy = bypass(memory=512)
    lengths = []
    for _ in range(2000):
        lengths.append(k := policy.length(8))
        policy.observe([Kept(str(row), k, 0) for row in range(8)])
    off = lengths.index(0)
    assert 0 < off < 40
    assert any(lengths[off:])  # what was learnt fades: it is tried again
    assert np.mean([k > 0 for k in lengths]) < 0.1


def test_drafts_that_are_kept_keep_it_on() -> None:
    policy = bypass(prior=0.5)
    for _ in range(100):
        k = policy.length(8)
        policy.observe([Kept(str(row), k, k) for row in range(8)])
    assert policy.acceptance.rate > 0.9
    assert policy.length(8) == 4


def test_the_estimate_is_kept_over_judged_with_a_prior() -> None:
    found = estimate(prior=0.5, weight=2)
    assert found.rate == 0.5
    found.learn(drafted=4, accepted=1)  # kept, rejected, two that nobody judged
    assert found.rate == pytest.approx((1 + 1) / (2 + 2), rel=ROUNDING)
    found.learn(drafted=4, accepted=4)
    assert found.rate == pytest.approx((1 + 1 + 4) / (2 + 2 + 4), rel=ROUNDING)


def test_the_estimate_finds_the_chance_that_made_the_rounds() -> None:
    rng, found = np.random.default_rng(7), estimate(prior=0.1, memory=1e9)
    for _ in range(4000):
        kept = rng.random(4) < 0.7
        found.learn(4, int(np.cumprod(kept).sum()))
    assert found.rate == pytest.approx(0.7, abs=0.03)


def test_a_request_has_its_own_length_by_its_own_acceptance() -> None:
    policy = bypass(prior=0.6, memory=1e9)
    for _ in range(600):
        policy.length(2)
        policy.observe([Kept("good", 4, 4), Kept("bad", 4, 0)])
    assert policy.limits(["good", "bad", "new"], 4)[:2] == [4, 0]
    assert 0 < policy.limits(["good", "bad", "new"], 4)[2] <= 4


def test_a_request_that_ended_is_forgotten() -> None:
    policy = bypass()
    policy.observe([Kept("one", 4, 0), Kept("two", 4, 4)])
    policy.observe([Kept("two", 4, 4)])
    assert set(policy._own) == {"two"}
