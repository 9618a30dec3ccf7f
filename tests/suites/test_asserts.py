"""An assert of a code canary has one form, and is taken apart without being run."""

import pytest

from draftgate.suites.asserts import comparison


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("assert f(1) == 2", ("f(1)", 2)),
        ("assert sorted(f('a b')) == [None, -1.5, ('x', {})]", ("sorted(f('a b'))", [None, -1.5, ("x", {})])),
    ],
)
def test_a_comparison_with_a_literal_is_taken_apart(line, expected):
    assert expected == comparison(line)


@pytest.mark.parametrize(
    "line",
    [
        "f(1) == 2",
        "assert f(1)",
        "assert f(1) != 2",
        "assert 1 == f(1)",
        "assert f(1) == g(1)",
        "assert f(1) == 2 == 3",
        "assert f(1) == 2; import os",
        "assert f(",
        "assert f(1) == " + "(" * 400 + ")" * 400,
        "",
        "\0",
    ],
)
def test_anything_else_is_refused(line):
    with pytest.raises(ValueError, match="is not `assert EXPRESSION == LITERAL`"):
        comparison(line)
