"""The exchangeable parts, as the engine has them."""

from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.randomness import CounterRandomness
from draftgate.engine.verification.lossless import Lossless


def test_the_engines_own_parts_are_the_default():
    own = Strategies()

    assert (Lossless, CounterRandomness) == (type(own.verifier), type(own.randomness))
    assert own.new_cache is ContiguousCache
