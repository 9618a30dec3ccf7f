"""Ids and text of one answer say the same, or that is a finding."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.errors import TextDiffers
from draftgate.canaries.targets.servers.texts import check_text
from draftgate.engine.request import Generation

WORDS = {3: " one", 4: " two", 5: " three", 2: "</s>", 1: "<|user|>"}


def decode(tokens):
    return "".join(WORDS[token] for token in tokens)


def check(tokens, text, finish="length", eos=(2,)):
    answer = Generation(name="r", tokens=tokens, text=text, finish=finish, prefill=0, arrivals=())
    check_text("http://a", answer, eos, decode)


@pytest.mark.parametrize(
    ("tokens", "text", "finish"),
    [
        ((3, 4), " one two", "length"),
        ((3, 4), "one two", "length"),
        ((3, 4, 2), " one two", "eos"),
        ((3, 4, 5), " one t", "stop"),
        ((), "", "length"),
        ((3, 1, 4), " one two", "length"),
        ((3, 1, 4), " one<|user|> two", "length"),
        ((3, 2, 4, 5), " one two t", "stop"),
    ],
)
def test_a_text_that_the_ids_decode_to_is_accepted(tokens, text, finish):
    check(tokens, text, finish)


@pytest.mark.parametrize(
    ("tokens", "text", "finish", "told"),
    [
        ((3, 4), " one one two", "length", "from character 4 the ids decode to 'two' and the text is 'one two'"),
        ((3, 4, 5), " one two", "length", "decode to ' three' and the text is ''"),
        ((3,), " one two", "stop", "decode to '' and the text is ' two'"),
        ((3, 1, 4), " one", "length", "decode to ' two' and the text is ''"),
        ((3, 4), " one wto", "eos", "'two' and the text is 'wto'"),
    ],
)
def test_a_text_that_lost_or_doubled_something_is_a_finding(tokens, text, finish, told):
    with pytest.raises(TextDiffers, match=told) as caught:
        check(tokens, text, finish)
    assert caught.value.finding


def test_half_a_character_at_the_end_is_no_difference():
    answer = Generation(name="r", tokens=(3,), text=" one\ufffd", finish="length", prefill=0, arrivals=())

    check_text("http://a", answer, (), lambda _: " one")
