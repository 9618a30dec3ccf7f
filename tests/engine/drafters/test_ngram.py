import pytest

from draftgate.engine.drafters.ngram import NGram

VOCABULARY = 12


def proposed(small, context, *, length=2, limit=9, **sizes):
    drafter = NGram(VOCABULARY, length, **sizes)
    drafter.begin(1)
    return drafter.draft(small.situation([context], [limit]))[0].tokens[1:].tolist()


def test_the_worked_example_of_the_docstring(small):
    assert [9, 1] == proposed(small, [1, 2, 3, 9, 1, 2, 3], longest=3)


@pytest.mark.parametrize(
    ("context", "expected", "why"),
    [
        ([2, 3, 7, 1, 2, 3, 5, 2, 3], [5, 2], "of two matches the last one counts"),
        ([1, 2, 3, 7, 0, 2, 3, 5, 1, 2, 3], [7, 0], "a longer match goes before a later one"),
        ([4, 5, 6, 7], [], "no repeat, no proposal"),
        ([3, 8, 3], [], "a single token is too short a match"),
        ([5, 5, 5], [5], "a match may overlap the end; what followed it is one token"),
        ([1], [], "a context of one token has no past"),
        ([1, 2, 8, 1, 2], [8, 1], "two tokens are enough"),
    ],
)
def test_what_followed_the_longest_latest_match_is_proposed(context, expected, why, small):
    assert expected == proposed(small, context), why


def test_one_token_suffices_only_where_that_is_asked_for(small):
    assert [8, 3] == proposed(small, [3, 8, 3], shortest=1)


def test_proposals_are_point_masses(small):
    tree = NGram(VOCABULARY, 2).draft(small.situation([[1, 2, 3, 9, 1, 2, 3]], [2]))[0]

    assert [9, 1] == tree.probs[1:].argmax(axis=1).tolist()
    assert [1, 1] == tree.probs[1:].max(axis=1).tolist() == tree.probs[1:].sum(axis=1).tolist()


def test_nothing_crosses_requests(small):
    """Neither from a neighbour in the batch nor from a batch before."""
    drafter = NGram(VOCABULARY, 2)
    drafter.begin(2)
    first = drafter.draft(small.situation([[1, 2, 3, 9, 1, 2, 3], [1, 2, 3]], [2, 2]))
    again = drafter.draft(small.situation([[1, 2, 3]], [2]))

    assert [2, 0, 0] == [tree.drafted for tree in [*first, *again]]
