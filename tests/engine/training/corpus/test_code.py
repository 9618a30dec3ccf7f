import ast
from random import Random

import pytest

from draftgate.engine.training.corpus.code import FAMILIES, ORDERS, asserts
from draftgate.engine.training.corpus.words import Draw, held_out


def test_code_defines_the_one_function_that_was_asked_for(drawn):
    for made in drawn("code"):
        (function,) = ast.parse(made.answer).body

        assert f"{function.name}({', '.join(a.arg for a in function.args.args)})" in made.messages[0]["content"]
        assert made.asserts


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_writes_python_and_has_several_compositions(family):
    draw = Draw(Random(2))
    made = [family(draw) for _ in range(60)]

    assert len({function.composition for function in made}) > 2
    for function in made:
        body = function.body.format(name="f").replace("\n", "\n ")
        ast.parse(f"def f({', '.join(function.arguments)}):\n {body}")


def test_compositions_lie_on_both_sides_of_every_family_but_may_not_mix():
    draw = Draw(Random(2))
    for family in FAMILIES:
        sides = {held_out(family(draw).composition, 0.2) for _ in range(400)}

        assert False in sides


def test_orders_name_head_and_purpose():
    assert all("{head}" in order and "{what}" in order for order in ORDERS)


def test_asserts_say_what_the_function_returns():
    lines = asserts("def f(a, b):\n    return [a, str(b)]", "f", ((1, 2), ("x", 3)))

    assert ("assert f(1, 2) == [1, '2']", "assert f('x', 3) == ['x', '3']") == lines
