"""What two sequences share is told by one function."""

import pytest

from draftgate.engine.sequences import shared_length


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ((5, 6, 7), (5, 6, 7), 3),
        ((5, 6, 7), (5, 9, 7), 1),
        ((1, 6, 7), (5, 6, 7), 0),
        ("told", "toll", 3),
    ],
)
def test_sequences_share_what_stands_before_the_first_difference(one, other, shared):
    assert shared == shared_length(one, other)
    assert shared == shared_length(other, one)


def test_an_early_end_is_a_difference():
    assert 2 == shared_length((5, 6), (5, 6, 7))
    assert 2 == shared_length((5, 6, 7), (5, 6))


def test_nothing_is_shared_with_nothing():
    assert 0 == shared_length((), (5,))
    assert 0 == shared_length((), ())


def test_a_later_agreement_is_not_shared():
    """Items that are the same behind a difference are not counted: what follows a fork is another text."""
    assert 1 == shared_length((5, 1, 7, 8), (5, 2, 7, 8))
