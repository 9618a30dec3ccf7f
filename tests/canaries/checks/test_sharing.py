"""Answers that repeat one another are told by their distance; answers with chances of their own hardly ever are."""

import math

import numpy as np
import pytest
from sampled import ANSWERS, drawn

from draftgate.canaries.checks.sharing import EVEN, _limits, shared
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE
from draftgate.stats.decision import Decision, decide

RATES = {"false_alarm": 1e-6, "miss": 1e-3}
EFFECT = 0.5


def decision(listed):
    evidence, design = shared(listed, **RATES)
    return decide(evidence, design, effect=EFFECT), evidence.hypothesis


def shuffled(change, share=1.0, seed=0):
    """Two prompts' draws of which the candidate's were changed by `change`, in this share of calls."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(2):
        one = drawn(rng)
        own = one.drawn[CANDIDATE].copy()
        calls = rng.uniform(size=len(own)) < share
        own[calls] = change(own)[calls]
        made.append(drawn(rng, drawn={BASELINE: one.drawn[BASELINE], CANDIDATE: own}))
    return made


def alike(own):
    return np.repeat(own[:, :1], own.shape[1], axis=1)


def halves(own):
    return np.concatenate([own[:, :2], own[:, :2]], axis=1)


def calls_alike(own):
    return np.repeat(own[:1], len(own), axis=0)


def every_other_call_again(own):
    return np.repeat(own[::2], 2, axis=0)


def test_chances_of_their_own_pass():
    assert Decision.PASS == decision(shuffled(lambda own: own))[0]


FAULTS = {
    "rows alike": (alike, "answers 1 row apart"),
    "halves alike": (halves, "answers 2 rows apart"),
    "calls alike": (calls_alike, "answers 1 call apart"),
    "every other call again": (every_other_call_again, "answers 1 call apart"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_shared_chance_is_caught_and_its_distance_told(name):
    change, words = FAULTS[name]
    found, hypothesis = decision(shuffled(change))

    assert (Decision.FAIL, f"{words} have chances of their own") == (found, hypothesis)


def test_so_small_a_share_as_is_designed_is_caught():
    _, design = shared(shuffled(lambda own: own), **RATES)

    assert design.detectable < EFFECT
    assert Decision.FAIL == decision(shuffled(alike, share=1.2 * design.detectable))[0]  # chance moves the share itself


def test_honest_answers_have_p_values_as_large_as_is_said():
    """No sum over two hundred runs: limits are held at once, so hardly any p-value is below one."""
    found = [shared([drawn(np.random.default_rng(seed))], **RATES)[0].p_value for seed in range(200)]

    assert np.mean(np.array(found) <= 0.01) <= 0.01


def test_no_mass_is_above_its_limit():
    """Nor would be, in a thousand times as many draws as these."""
    one = drawn(np.random.default_rng(3))
    law = np.array([masses.prod() for masses in one.masses])

    assert (law <= _limits(one, 1e-9)).all()
    assert (_limits(one, 1e-9) >= one.counts(BASELINE) / 400).all()


def test_answers_that_come_again_anyway_show_nothing():
    law = np.array([1.0, 0, 0, 0])
    made = drawn(np.random.default_rng(0), law=law, candidate=law)
    sure = drawn(np.random.default_rng(0), drawn={arm: np.zeros_like(drawing) for arm, drawing in made.drawn.items()})
    evidence, design = shared([sure], **RATES)

    assert (0, True, True) == (evidence.n, math.isnan(evidence.p_value), math.isinf(design.detectable))
    assert Decision.INCONCLUSIVE == decide(evidence, design, effect=EFFECT)
    assert EVEN < _limits(sure, 1e-9)[ANSWERS.index((0, 0))]


def test_a_single_row_is_held_against_the_next_call():
    one = drawn(np.random.default_rng(0), rows=1, calls=400)

    assert "answers 1 call apart have chances of their own" == shared([one], **RATES)[0].hypothesis
