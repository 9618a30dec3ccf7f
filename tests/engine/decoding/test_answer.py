import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftgate.engine.decoding.answer import Answer
from draftgate.engine.request import Request, Round

SAID = [0, 1, 2, 3, 4, 5, 6, 7]  # abcdefgh


def letters(tokens):
    return "".join(chr(ord("a") + token) for token in tokens)


def answer(**limits):
    return Answer(Request(name="r", prompt=(9,), **{"max_tokens": 8} | limits), letters, 0.0)


def in_blocks(sizes, **limits):
    """SAID handed over as prefill and blocks of these sizes, until it is closed."""
    kept, said = answer(**limits), SAID[1:]
    kept.begin(SAID[0])
    for size in sizes:
        if kept.finish is None:
            kept.extend(said[:size], drafted=size - 1)
            said = said[size:]
    return kept


def test_prefill_and_rounds_are_counted_apart():
    kept = in_blocks([3])

    assert 1 == kept.prefill
    assert [Round(2, 2, 3, 0)] == kept.rounds
    assert [9, 0, 1, 2, 3] == kept.context
    assert 4 == kept.remaining
    assert kept.finish is None


@pytest.mark.parametrize("end", range(8))
@pytest.mark.parametrize("sizes", [[1] * 7, [7], [3, 4], [2, 5], [4, 3]])
def test_whatever_ends_the_answer_ends_it_at_the_same_token_in_any_block(end, sizes):
    """End of sequence, a stop string of one letter and the limit, at every place in every block."""
    eos = in_blocks(sizes, eos=(end,)).generation()
    stop = in_blocks(sizes, stop=(letters([end]),)).generation()
    length = in_blocks(sizes, max_tokens=end + 1).generation()

    assert ["eos", "stop", "length"] == [g.finish for g in (eos, stop, length)]
    assert {tuple(SAID[: end + 1])} == {g.tokens for g in (eos, stop, length)}
    assert [letters(SAID[: end + 1]), letters(SAID[:end])] == [length.text, stop.text]


def test_what_stands_behind_the_end_in_its_block_is_counted_as_cut():
    assert [Round(6, 6, 3, 4)] == in_blocks([7], eos=(3,)).rounds
    assert [Round(6, 6, 7, 0)] == in_blocks([7], eos=(7,)).rounds
    assert [] == in_blocks([7], eos=(0,)).rounds


@given(st.integers(0, 5), st.integers(1, 4), st.lists(st.integers(1, 4), min_size=7, max_size=7))
def test_a_stop_string_is_found_across_any_block_boundaries(start, width, sizes):
    text = letters(SAID)[start : start + width]
    kept = in_blocks(sizes, stop=("zz", text)).generation()

    assert "stop" == kept.finish
    assert letters(SAID)[:start] == kept.text
    assert start + len(text) == len(kept.tokens)


def test_the_text_ends_before_the_first_of_several_stop_strings():
    assert "a" == in_blocks([7], stop=("bcd", "cd")).generation().text


def test_the_first_of_two_ends_counts():
    assert "eos" == in_blocks([7], eos=(2,), stop=("c",)).generation().finish
    assert "stop" == in_blocks([7], eos=(4,), stop=("d",)).generation().finish
    assert "stop" == in_blocks([7], max_tokens=3, stop=("c",)).generation().finish


@given(st.lists(st.integers(1, 4), min_size=7, max_size=7), st.integers(1, 8))
def test_every_token_arrives_once(sizes, limit):
    kept = in_blocks(sizes, max_tokens=limit).generation()

    assert len(kept.tokens) == sum(a.tokens for a in kept.arrivals)
    assert len(kept.tokens) == kept.prefill + sum(r.emitted for r in kept.rounds)
    assert all(r.accepted + 1 == r.emitted + r.cut for r in kept.rounds)
    assert [a.seconds for a in kept.arrivals] == sorted(a.seconds for a in kept.arrivals)


def test_plain_steps_are_no_rounds():
    kept = answer()
    kept.begin(0)
    kept.step(1)

    assert [] == kept.rounds
    assert [0, 1] == kept.tokens
