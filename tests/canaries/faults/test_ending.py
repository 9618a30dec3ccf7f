"""An end inside a block is passed over; one at its last token is not."""

import pytest

from draftgate.canaries.faults.ending import EndsAtBlocksOnly
from draftgate.engine.decoding.answer import Answer
from draftgate.engine.request import Request

END = 9
REQUEST = Request(name="r", prompt=(1,), max_tokens=6, eos=(END,))


def answered(kind, *blocks):
    answer = kind(REQUEST, lambda tokens: " ".join(map(str, tokens)), 0.0)
    answer.begin(1)
    for block in blocks:
        answer.extend(block, drafted=len(block) - 1)
    return answer


def test_the_engine_stops_inside_a_block_and_the_plant_goes_on():
    honest, planted = answered(Answer, [2, END, 3]), answered(EndsAtBlocksOnly, [2, END, 3])

    assert ([1, 2, END], "eos") == (honest.tokens, honest.finish)
    assert ([1, 2, END, 3], None) == (planted.tokens, planted.finish)


@pytest.mark.parametrize("kind", [Answer, EndsAtBlocksOnly])
def test_both_stop_at_the_end_of_a_block_and_at_the_limit(kind):
    assert answered(kind, [2, END]).finish == "eos"
    assert answered(kind, [2, 3, 4, 5, 6]).finish == "length"
