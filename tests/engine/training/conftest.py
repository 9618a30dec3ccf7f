from itertools import islice
from random import Random

import pytest

from draftgate.engine.training.corpus import KINDS, conversations
from draftgate.engine.training.tokenizer import train_tokenizer


@pytest.fixture(scope="session")
def talks():
    """Starts a stream of conversations, every kind as likely as another."""
    return lambda seed: conversations(Random(seed), lambda: dict.fromkeys(KINDS, 1.0))


@pytest.fixture(scope="session")
def tokenizer(talks):
    """A tokenizer of 330 tokens, learned in a moment."""
    return train_tokenizer(330, islice(talks(0), 200))
