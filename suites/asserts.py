"""The one form that an assert of a code canary has, so that its value can be compared outside the program judged."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple


class Comparison(NamedTuple):
    """`assert expression == value`, taken apart."""

    expression: str
    value: Any


def comparison(line: str) -> Comparison:
    """What `assert EXPRESSION == LITERAL` compares. Raises ValueError for any other line.

    "assert f(1) == [2]" -> ("f(1)", [2])
    """
    try:
        match ast.parse(line).body:
            case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[literal]))]:
                return Comparison(ast.unparse(left), ast.literal_eval(literal))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        pass
    raise ValueError(f"{line!r:.80} is not `assert EXPRESSION == LITERAL`")
