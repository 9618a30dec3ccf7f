import pytest

from draftgate.engine.training.tokenizer import train_tokenizer


@pytest.fixture(scope="session")
def tokenizer():
    """A tokenizer of 320 tokens, learned in a moment."""
    return train_tokenizer(320, 200, 0)
