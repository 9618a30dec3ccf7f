"""Where two answers part, what that is, and how far two rows contradict each other."""

import math

import pytest

from draftgate.canaries.checks.heard import Fork, Row, Said, differ, like_of, places, weigh
from draftgate.canaries.observations.chat import Slot

USAGE = {"prompt_tokens": 3, "completion_tokens": None}
MOST = 0.01


def tell(token, value=-0.5, **best):
    return Row(token, value, {int(name[1:]): lp for name, lp in best.items()} or {token: value, 9: value - 3})


def answer(*tokens, told=True, ids=True, usage=USAGE, text=""):
    rows = tuple(map(tell, tokens)) if told is True else tuple(told or ())
    shown = tokens if ids else ()
    return Said(text=text, finish="stop", calls=(), usage=usage, tokens=shown, told=rows)


def near(value=-0.5, other=8, by=0.001):
    """A row whose second best token is nearly as good."""
    return Row(7, value, {7: value, other: value - by})


def test_rows_are_used_where_each_token_has_one_but_the_end():
    assert len(answer(5, 6).rows) == 2
    assert len(answer(5, 6, 0, told=(tell(5), tell(6))).rows) == 2
    assert answer(5, 6, 7, 0, told=(tell(5), tell(6))).rows == ()
    assert answer(5, 6, ids=False, usage=USAGE | {"completion_tokens": 9}).rows == ()
    assert answer(5, 6, ids=False).sequence == (5, 6)
    assert answer(5, 6, told=False).sequence == (5, 6)


def test_a_row_without_numbers_claims_nothing():
    assert not Row(5, math.nan, {}).claims
    assert Row(5, -0.1, {}).claims
    assert math.isnan(tell(5, e5=-0.5).gap)
    assert tell(5, e5=-0.5, e6=-0.75, e7=-9.0).gap == 0.25


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (tell(5), tell(5), 0.0),
        (tell(5), tell(5, -0.5 - 1e-8), 0.0),  # float32 has no number between
        (tell(5, -0.5, e5=-0.5, e6=-1.0), tell(5, -0.5, e5=-0.5, e6=-1.5), 0.5),
        (tell(5, -0.5, e5=-0.5, e6=-1.0), tell(5, -0.5, e5=-0.5, e7=-1.25), 0.25),  # 6 is at most as likely as 7
        (tell(6, -1.0, e5=-0.5, e6=-1.0), tell(7, -1.0, e5=-0.5, e7=-1.0), 0.0),
        (Row(5, -0.5, {}), Row(5, -0.75, {}), 0.25),
        (Row(5, math.nan, {}), tell(5), 0.0),
    ],
)
def test_rows_differ_by_the_most_that_they_contradict_each_other(a, b, expected):
    assert differ(a, b) == differ(b, a) == pytest.approx(expected)


def test_places_end_with_the_first_other_token():
    one, other = answer(5, 6, 7), answer(5, 8, 7)

    assert [at for at, _, _ in places(one, other)] == [0, 1]
    silent = answer(5, 6, 7, told=(tell(5), Row(6, math.nan, {}), tell(7)))
    assert [at for at, _, _ in places(one, silent)] == [0, 2]


@pytest.mark.parametrize(
    ("plain", "other", "like", "expected"),
    [
        (answer(5, 7, told=(tell(5), near())), answer(5, 8), None, Fork.TIED),
        (answer(5, 7, told=(tell(5), near(by=0.1))), answer(5, 8), None, Fork.APART),
        (answer(5, 7, told=(tell(5), near())), answer(5, 6), None, Fork.OPEN),  # 6 may be as good as the last listed
        (answer(5, 7), answer(5, 6), None, Fork.APART),  # 6 is not listed, so far below
        (answer(5, 7, told=(tell(5), near())), answer(5), None, Fork.TIED),  # the end may have been as good
        (answer(5, 7, told=(tell(5), tell(7, e7=-0.5, e0=-0.501, e9=-6.0))), answer(5), None, Fork.TIED),  # so too
        (answer(5, 7), answer(5), None, Fork.APART),
        (answer(5, 7), answer(5, 7, 8), None, Fork.OPEN),  # nothing is told of plain decoding's end
        (answer(5, 7), answer(5, 7), None, Fork.APART),  # the same tokens
        (answer(5, 7, told=False), answer(5, 8), None, Fork.OPEN),
        (answer(5, 7, told=False), answer(5, 8), answer(5, 7, told=(tell(5), near())), Fork.TIED),
        (answer(5, 7, told=False), answer(5, 8), answer(5, 7, text="other"), Fork.OPEN),
        (answer(told=False), answer(told=False), answer(5, 7), Fork.APART),  # plain decoding is sure all the way
        (answer(told=False), answer(told=False), answer(5, 7, told=(tell(5), near())), Fork.OPEN),
        (answer(5, 7, told=(tell(5), Row(7, math.nan, {}))), answer(5, 8), None, Fork.OPEN),
    ],
)
def test_a_fork_is_weighed_where_it_is(plain, other, like, expected):
    assert weigh(plain, other, like, MOST) is expected


def test_a_stream_is_like_its_whole_answer():
    assert like_of(Slot("a", "tools stream", 1)) == Slot("a", "tools", 1)
