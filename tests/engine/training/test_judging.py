import time

import pytest

from draftgate.engine.training import judging
from draftgate.engine.training.corpus.sample import Sample, turns
from draftgate.engine.training.judging import fits, right, runs, satisfies

FIELDS = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 10, "maximum": 20},
        "s": {"type": "string"},
        "b": {"type": "boolean"},
        "c": {"enum": ["x", "y"]},
        "l": {"type": "array", "items": {"type": "string"}},
    },
}
GOOD = {"n": 15, "s": "t", "b": True, "c": "x", "l": ["a"]}


def test_an_exact_answer_must_be_equal():
    sample = Sample(messages=turns("a", "b c"))

    assert right(sample, "b c")
    assert not right(sample, "b c ")


def test_code_must_pass_its_asserts():
    sample = Sample(messages=turns("a", "def f(x):\n    return x"), asserts=("assert f(2) == 2",))

    assert right(sample, sample.answer)
    assert right(sample, "def f(y): return y + 0")
    for wrong in ("def f(x):\n    return 3", "def f(x)", "", "def g(x):\n    return x", "\0"):
        assert not right(sample, wrong)


def test_code_that_does_not_end_is_wrong(monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 0.5)
    started = time.monotonic()

    assert not runs("while True: pass")
    assert time.monotonic() - started < 5


def test_code_sees_neither_our_environment_nor_our_folder():
    assert runs("import os\nassert not os.listdir('.')\nassert 'PATH' not in os.environ")


def test_calls_must_be_equal_whatever_their_spaces_and_order_of_arguments():
    call = '<tool_call>{"name": "f", "arguments": {"a": 1, "b": 2}}</tool_call>'
    sample = Sample(messages=turns("a", call))

    assert right(sample, '<tool_call>{"name":"f","arguments":{"b":2,"a":1}}</tool_call>')
    for wrong in (call.replace("1", "3"), call + "\n" + call, "", call[5:]):
        assert not right(sample, wrong)


def test_given_json_must_hold_just_the_given_values():
    sample = Sample(messages=turns("a", '{"n": 1, "s": "t"}'), schema={"type": "object"})

    assert fits('{"s": "t", "n": 1}', sample)
    for wrong in ('{"n": 1}', '{"n": true, "s": "t"}', '{"n": 1.0, "s": "t"}', '{"n": 1, "s": "t"} x', "", "[1]"):
        assert not fits(wrong, sample)


def test_free_json_must_satisfy_the_schema():
    sample = Sample(
        messages=turns("a", '{"c": "x"}'),
        schema={"type": "object", "properties": {"c": FIELDS["properties"]["c"]}},
        free=True,
    )

    assert right(sample, '{"c": "y"}')
    assert not right(sample, '{"c": "z"}')


def test_a_value_of_each_type_satisfies_its_schema():
    assert satisfies(GOOD, FIELDS)


@pytest.mark.parametrize(
    "change",
    [
        {"n": 9},
        {"n": 21},
        {"n": True},
        {"n": "15"},
        {"s": 1},
        {"b": 1},
        {"c": "z"},
        {"l": "a"},
        {"l": [1]},
        {"more": 1},
    ],
)
def test_a_wrong_value_does_not(change):
    assert not satisfies(GOOD | change, FIELDS)


def test_fields_may_not_be_missing():
    assert not satisfies({"n": 15}, FIELDS)


def test_free_text_must_end_with_a_sentence():
    sample = Sample(messages=turns("a", "B."), free=True)

    assert right(sample, "Something else.")
    assert not right(sample, "Cut in the")
