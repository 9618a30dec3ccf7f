"""Events are the same, wherever the network cuts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.canaries.targets.servers.sse import EventReader

STREAM = ': a comment\r\n\r\ndata: {"a": "é"}\r\n\r\nevent: x\rdata: one\rdata:two\r\rid: 7\ndata: last\n\n'.encode()
EVENTS = ['{"a": "é"}', "one\ntwo", "last"]


def read(parts):
    reader = EventReader()
    return [event for part in parts for event in reader.feed(part)], reader.left()


def test_a_whole_stream_is_its_events():
    assert read([STREAM]) == (EVENTS, "")


def test_a_stream_cut_at_every_byte_is_its_events():
    assert read([STREAM[i : i + 1] for i in range(len(STREAM))]) == (EVENTS, "")


def test_a_line_end_that_is_cut_in_two_is_one():
    lines = b"data: one\r\ndata: two\r\n\r\n"

    assert read([lines[i : i + 1] for i in range(len(lines))]) == (["one\ntwo"], "")


def test_one_space_behind_the_colon_is_none_of_the_data():
    assert read([b"data:  a \n\n"]) == ([" a "], "")


@given(st.lists(st.integers(0, len(STREAM)), max_size=6).map(sorted))
def test_a_stream_cut_anywhere_is_its_events(cuts):
    parts = [STREAM[a:b] for a, b in zip([0, *cuts], [*cuts, len(STREAM)], strict=True)]

    assert read(parts) == (EVENTS, "")


def test_an_empty_line_alone_is_no_event():
    assert read([b"\n\n\r\n: ping\n\n"]) == ([], "")


def test_a_byte_order_mark_is_no_text():
    assert read([b"\xef\xbb\xbfdata: a\n\n"]) == (["a"], "")


@pytest.mark.parametrize("half", [b'data: {"a": 1', b'data: {"a": 1\n'])
def test_half_an_event_is_left_over(half):
    assert read([b"data: a\n\n", half]) == (["a"], '{"a": 1')


@pytest.mark.parametrize("end", [b"data: [DONE]", b"data: [DONE]\n", b"data: [DONE]\n\n", b": bye"])
def test_the_end_needs_no_empty_line_behind_it(end):
    assert read([b"data: a\n\n", end])[1] in ("", ": bye")


def test_what_is_not_utf_8_is_refused():
    with pytest.raises(UnicodeDecodeError):
        read([b"data: \xff\xfe\n\n"])
