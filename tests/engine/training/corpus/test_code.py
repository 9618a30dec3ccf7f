import ast
from random import Random

import pytest

from draftgate.engine.training.corpus.code import FAMILIES, ORDERS, asserts, code, of_one_part
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


def test_what_has_one_part_lies_on_both_sides_unless_it_is_left_out():
    """Compositions seen by the key that decides; `pair larger` cannot be put together from what was learned."""
    draws = {held: Draw(Random(4), held) for held in (False, True)}
    seen = {(held, shared): [] for held in draws for shared in (False, True)}
    for (held, shared), answers in seen.items():
        answers += [code(draws[held], shared=shared).answer for _ in range(400)]

    assert of_one_part("pair larger")
    assert not of_one_part("filter even same")
    assert any("return max(" in answer for answer in seen[True, True])
    assert any("return max(" in answer for answer in seen[False, True])
    assert not any("return max(" in answer for answer in seen[True, False])


def test_orders_name_head_and_purpose():
    assert all("{head}" in order and "{what}" in order for order in ORDERS)


def test_asserts_say_what_the_function_returns():
    lines = asserts("def f(a, b):\n    return [a, str(b)]", "f", ((1, 2), ("x", 3)))

    assert ("assert f(1, 2) == [1, '2']", "assert f('x', 3) == ['x', '3']") == lines
