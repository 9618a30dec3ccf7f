from random import Random

import pytest

from draftgate.engine.training.corpus import sample


@pytest.fixture(params=[False, True], ids=["trained", "held"])
def held(request):
    """Both sides of the corpus."""
    return request.param


@pytest.fixture
def drawn(held):
    """Draws so many samples of a kind from the side."""

    def draw(kind, number=150):
        rng = Random(1)
        return [sample(kind, rng, held=held) for _ in range(number)]

    return draw
