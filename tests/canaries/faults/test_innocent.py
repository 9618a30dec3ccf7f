"""The look-alike uses the engine's own uniforms, each once, in another order."""

import numpy as np
import pytest

from draftgate.canaries.faults.innocent import OtherOrder, other_order
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.randomness import CounterRandomness, Purpose

SEEDS, ROUNDS = np.array([3, 4]), np.array([0, 7])


def uniforms(randomness):
    return {purpose: randomness.uniforms(SEEDS, ROUNDS, purpose, 4) for purpose in Purpose}


def test_the_same_uniforms_come_in_another_order():
    own, other = uniforms(CounterRandomness()), uniforms(OtherOrder())

    assert np.array_equal(np.sort(list(own.values()), axis=None), np.sort(list(other.values()), axis=None))
    assert not any(np.array_equal(own[purpose], other[purpose]) for purpose in Purpose)


@pytest.mark.parametrize("purpose", Purpose)
def test_no_two_uses_share_a_uniform(purpose):
    found = uniforms(OtherOrder())

    others = np.concatenate([found[other].ravel() for other in Purpose if other is not purpose])
    assert not set(found[purpose].ravel()) & set(others)
    assert len(set(found[purpose].ravel())) == found[purpose].size


def test_only_the_chance_is_exchanged():
    own = Strategies()
    planted = other_order(own)

    assert isinstance(planted.randomness, OtherOrder)
    assert (own.new_cache, own.verifier) == (planted.new_cache, planted.verifier)
