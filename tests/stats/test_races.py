"""An argmax over exponentials is the draw that it stands for, exactly; what is not a race is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from draftgate.stats.exact import enumerate_law, paths
from draftgate.stats.races import Exponential, Race
from draftgate.stats.rounding import RoundingRandomness
from draftgate.stats.symbolic import NotEnumerable

P = [Fraction(1, 6), Fraction(0), Fraction(1, 2), Fraction(1, 3)]
LAW = {token: mass for token, mass in enumerate(P) if mass}


def weights(*masses):
    law = np.empty(len(masses), dtype=object)
    law[:] = masses
    return law


def exponentials(chance, count):
    noise = np.empty(count, dtype=object)
    noise[:] = [-chance.uniform(slot).log() for slot in range(count)]
    return noise


@pytest.mark.parametrize(
    "race",
    [
        lambda p, e: int(np.argmax(p / e)),
        lambda p, e: int(np.argmax(2 * (p / e) / 3)),
        lambda p, e: [token for token in range(4) if p[token]][int(np.argmin(e[p > 0] / p[p > 0]))],
        lambda p, e: max(range(4), key=lambda token: p[token] / e[token]),
    ],
)
def test_a_race_draws_from_its_weights(race):
    assert LAW == enumerate_law(lambda chance: race(weights(*P), exponentials(chance, 4)))


@pytest.mark.parametrize(
    "sign", [lambda a, b: a - b, lambda a, b: a + -b, lambda a, b: -(b - a), lambda a, b: 1 - b + a]
)
def test_a_gumbel_race_draws_from_the_exponentials_of_its_logits(sign):
    """exp(log p) is p up to rounding: floats are allowed here, and the law is as exact as they are."""

    def race(chance):
        noise = [(-chance.uniform(t).log()).log() for t in range(3)]
        logits = [math.log(LAW[t]) for t in (0, 2, 3)]
        return max(range(3), key=lambda t: sign(logits[t], noise[t]))

    found = {}
    for token, mass in paths(race, chance=RoundingRandomness):
        found[token] = found.get(token, 0) + mass

    assert [1 / 6, 1 / 2, 1 / 3] == pytest.approx([float(found[token]) for token in range(3)], rel=1e-12)


def test_the_winner_runs_on_with_the_pace_of_both():
    """Of three equal racers the last beats the winner of the first two in one of three cases."""
    outcome = enumerate_law(lambda chance: int(np.argmin(exponentials(chance, 3))))

    assert dict.fromkeys(range(3), Fraction(1, 3)) == outcome


def test_a_second_race_on_the_same_noise_is_refused():
    def twice(chance):
        noise = exponentials(chance, 2)
        return int(np.argmax(weights(1, 1) / noise)), int(np.argmax(weights(1, 2) / noise))

    with pytest.raises(NotEnumerable, match="two comparisons"):
        enumerate_law(twice)


@pytest.mark.parametrize(
    "need",
    [
        lambda e: e < Fraction(1, 2),
        lambda e: e + 1,
        lambda e: -e,
        lambda e: e.log() * 2,
        lambda e: e.log().log(),
        lambda e: 1 / e.log(),
        lambda e: 1 - e,
        lambda e: e - 1,
        lambda e: e / 0,
        lambda e: e * -1,
        lambda e: e > 1 / e,
        lambda e: e * 0 < e,
        float,
    ],
)
def test_what_is_no_race_is_refused(need):
    def run(chance):
        return need(-chance.uniform(0).log())

    with pytest.raises(NotEnumerable):
        enumerate_law(run)


def test_impossible_entries_may_stand_beside_a_race():
    """Masked with -inf, or started from a negative number."""

    def masked(chance):
        race = Race(Exponential(chance), Fraction(1), power=-1, logged=True)
        return race > -math.inf, race < math.inf, -chance.uniform(0).log() > -1

    assert {(True, True, True): 1} == enumerate_law(masked)


@pytest.mark.parametrize(
    "accepts",
    [
        lambda log_u, r: log_u < math.log(r),
        lambda log_u, r: math.log(r) >= log_u,
        lambda log_u, r: log_u + math.log(2) <= math.log(2 * r),
        lambda log_u, r: not log_u - 1 > math.log(r) - 1,
    ],
)
def test_the_logarithm_of_a_uniform_is_compared_as_the_uniform(accepts):
    def run(chance):
        return accepts(chance.uniform(0).log(), 1 / 4)

    found = dict(paths(run, chance=RoundingRandomness))

    assert [0.25, 0.75] == pytest.approx([float(found[True]), float(found[False])], rel=1e-12)


@pytest.mark.parametrize(("bound", "below"), [(0.0, True), (math.inf, True), (-math.inf, False)])
def test_what_is_sure_of_a_logarithm_is_no_fork(bound, below):
    assert {below: 1} == dict(paths(lambda chance: chance.uniform(0).log() < bound, chance=RoundingRandomness))


@pytest.mark.parametrize(
    "run",
    [
        lambda a, b: [a < -1, a < -2],
        lambda a, b: a < b,
        lambda a, b: a + b,
        lambda a, b: a < math.inf - math.inf,
        lambda a, b: [a < -1, -a < -b],
    ],
)
def test_a_logarithm_that_is_used_twice_is_refused(run):
    with pytest.raises(NotEnumerable):
        list(paths(lambda chance: run(chance.uniform(0).log(), chance.uniform(1).log()), chance=RoundingRandomness))
