"""Events are joined into answers; what cannot be an answer is refused by type."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.asking import Delta, Piece, TokenLogprob
from draftgate.canaries.targets.servers.counters import Counters
from draftgate.canaries.targets.servers.errors import Garbled, Lacking, ServerFailed, Unfinished
from draftgate.canaries.targets.servers.gathering import Gathering
from served import ask

LOGPROB = TokenLogprob(5, -0.5, {5: -0.5})


def gathered(*pieces, asking=None, emitted=(), **changes):
    """The answers from pieces that come a second apart; `emitted` is the server's running count."""
    gathering = Gathering(ask(asking, **changes), "replica 1", "http://a/b")
    for i, piece in enumerate(pieces):
        gathering.take(float(i), Delta((piece,), emitted[i] if emitted else None))
    return gathering.answers()


def test_bursts_count_tokens_and_not_events():
    (answer,) = gathered(Piece(text="a", ids=(5,)), Piece(text="bcd", ids=(6, 7, 8)), Piece(ids=(), finish="length"))

    assert answer.generation.tokens == (5, 6, 7, 8)
    assert answer.generation.text == "abcd"
    assert answer.generation.arrivals == ((0.0, 1), (1.0, 3))
    assert (answer.counted, answer.replica) == ("ids", "replica 1")


def test_without_ids_the_text_is_used_and_said_to_be():
    (answer,) = gathered(Piece(text="a"), Piece(text="b", finish="length"))

    assert (answer.counted, answer.generation.tokens, answer.generation.text) == ("none", (), "ab")
    assert answer.generation.arrivals == ((0.0, 0), (1.0, 0))


def test_without_ids_the_logprobs_count():
    pieces = Piece(text="a", logprobs=(LOGPROB,)), Piece(text="b", logprobs=(LOGPROB,) * 2, finish="length")
    (answer,) = gathered(*pieces, asking={"logprobs": 1})

    assert (answer.counted, answer.generation.arrivals) == ("logprobs", ((0.0, 1), (1.0, 2)))
    assert answer.logprobs == (LOGPROB,) * 3


def test_without_either_a_running_usage_counts():
    (answer,) = gathered(Piece(text="a"), Piece(text="b", finish="length"), emitted=(1, 4))

    assert (answer.counted, answer.generation.arrivals) == ("usage", ((0.0, 1), (1.0, 3)))


def test_a_usage_over_several_answers_counts_none_of_them():
    pieces = [Piece(index, text, finish="length") for text in "ab" for index in (0, 1)]

    assert {answer.counted for answer in gathered(*pieces, asking={"n": 2}, emitted=(1, 2, 3, 4))} == {"none"}


def test_events_that_repeat_all_so_far_add_what_is_new():
    first = Piece(text="a", ids=(5,), logprobs=(LOGPROB,), cumulative=True)
    last = Piece(text="abc", ids=(5, 6, 7), logprobs=(LOGPROB,) * 3, finish="length", cumulative=True)
    (answer,) = gathered(first, last, asking={"logprobs": 1})

    assert (answer.generation.tokens, answer.generation.text) == ((5, 6, 7), "abc")
    assert len(answer.logprobs) == 3
    assert [arrival.tokens for arrival in answer.generation.arrivals] == [1, 2]


@pytest.mark.parametrize(
    "later", [Piece(text="xbc", ids=(5, 6)), Piece(text="abc", ids=(9, 6)), Piece(text="", ids=())]
)
def test_tokens_or_text_taken_back_are_a_finding(later):
    with pytest.raises(Garbled, match="takes back"):
        gathered(Piece(text="a", ids=(5,)), later._replace(cumulative=True))


def test_several_answers_are_kept_apart():
    pieces = (
        Piece(0, "a", (5,)),
        Piece(1, "b", (6,)),
        Piece(1, "d", (7,), finish="stop"),
        Piece(0, "c", (8,), finish="length"),
    )
    first, second = gathered(*pieces, asking={"n": 2})

    assert (first.generation.tokens, second.generation.tokens) == ((5, 8), (6, 7))
    assert (first.index, second.index) == (0, 1)


def test_an_answer_that_was_not_asked_for_is_a_finding():
    with pytest.raises(Garbled, match="index 1 where n is 1"):
        gathered(Piece(1, "a"))


@pytest.mark.parametrize(
    ("piece", "asked", "finish"),
    [
        (Piece(ids=(5,), finish="length"), {}, "length"),
        (Piece(ids=(5, 2), finish="stop"), {"eos": (2,)}, "eos"),
        (Piece(ids=(5,), finish="stop", matched="b"), {"eos": (2,), "stop": ("b",)}, "stop"),
        (Piece(ids=(5, 2), finish="stop", matched=2), {"eos": (2,), "stop": ("b",)}, "eos"),
        (Piece(ids=(5, 2), finish="stop"), {"eos": (2,), "stop": ("b",)}, "eos"),
        (Piece(ids=(5,), finish="stop"), {"eos": (2,), "stop": ("b",)}, "stop"),
        (Piece(text="a", finish="tool_calls"), {}, "eos"),
    ],
)
def test_each_end_has_its_reason(piece, asked, finish):
    (answer,) = gathered(piece, **asked)

    assert answer.generation.finish == finish


def test_an_end_without_a_reason_is_a_finding():
    with pytest.raises(Unfinished, match="without a finish reason after 1 tokens") as caught:
        gathered(Piece(text="a", ids=(5,)))
    assert caught.value.finding


@pytest.mark.parametrize("finish", ["abort", "content_filter", "error"])
def test_an_answer_that_the_server_ended_is_no_finding(finish):
    with pytest.raises(ServerFailed, match=finish) as caught:
        gathered(Piece(text="a", finish=finish))
    assert not caught.value.finding


def test_missing_logprobs_are_a_finding():
    with pytest.raises(Lacking, match="no logprobs in the answer") as caught:
        gathered(Piece(text="a", ids=(5,), finish="length"), asking={"logprobs": 2})
    assert caught.value.finding


def test_chat_may_leave_logprobs_out():
    asking = {"logprobs": 2, "messages": ({"role": "user", "content": "hi"},)}
    (answer,) = gathered(Piece(text="a", finish="tool_calls"), asking=asking)

    assert (answer.logprobs, answer.ending, answer.generation.finish) == ((), "tool_calls", "eos")


def test_logprobs_of_fewer_tokens_than_ids_are_a_finding():
    with pytest.raises(Garbled, match="1 logprobs for 2 ids"):
        gathered(Piece(ids=(5, 6), logprobs=(LOGPROB,), finish="length"), asking={"logprobs": 2})


def test_a_tool_call_is_joined_from_its_parts():
    begin = {"index": 0, "id": "1", "function": {"name": "look", "arguments": ""}}
    parts = [{"index": 0, "function": {"arguments": text}} for text in ('{"a"', ": 1}")]
    pieces = [Piece(tool_calls=(part,)) for part in (begin, *parts)]
    (answer,) = gathered(*pieces, Piece(finish="tool_calls"))

    assert answer.tool_calls == ({"name": "look", "arguments": '{"a": 1}'},)


def test_what_the_server_counted_last_is_kept():
    gathering = Gathering(ask(), "replica 0", "http://a")
    gathering.take(0.0, Delta((Piece(text="a"),), 1, {"completion_tokens": 1}, Counters(rounds=1)))
    gathering.take(1.0, Delta((Piece(finish="length"),), 2, {"completion_tokens": 2}, Counters(rounds=2)))
    (answer,) = gathering.answers()

    assert (answer.usage, answer.counters) == ({"completion_tokens": 2}, Counters(rounds=2))
