"""Modules are small, say what they are for, and have their tests where they are looked for."""

from __future__ import annotations

import ast
from pathlib import Path

from repository import ROOT, modules, parsed, scripts

LONGEST_FILE = 300
LONGEST_FUNCTION = 50
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def body(function):
    """What a function does: its statements without its docstring."""
    return function.body[1:] if ast.get_docstring(function) else function.body


def has_logic(module):
    """Whether there is anything to test: a function that does something, or a table that other code reads."""
    return any(isinstance(node, FUNCTIONS) and body(node) for node in ast.walk(parsed(module)))


def public(tree):
    """(name, node) of every public function, class and method, outside functions and private classes."""
    for node in tree.body:
        if isinstance(node, FUNCTIONS | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                yield from ((f"{node.name}.{name}", method) for name, method in public(node))


def twin(module):
    return Path("tests", *module.parent.parts, f"test_{module.name}")


def test_no_file_is_too_long():
    lengths = {module: len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in modules()}

    assert {str(module): length for module, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_too_long():
    lengths = {
        f"{module}:{node.name}": node.end_lineno - node.lineno + 1
        for module in [*modules(), *scripts()]
        for node in ast.walk(parsed(module))
        if isinstance(node, FUNCTIONS)
    }

    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def test_every_module_says_what_it_is_for():
    silent = [
        module for module in [*modules(), *scripts()] if parsed(module).body and not ast.get_docstring(parsed(module))
    ]

    assert list(map(str, silent)) == []


def test_everything_public_says_what_is_true_afterwards():
    silent = [
        f"{module}:{name}"
        for module in [*modules(), *scripts()]
        for name, node in public(parsed(module))
        if not ast.get_docstring(node)
    ]

    assert silent == []


def test_every_module_with_logic_has_its_tests_where_they_are_looked_for():
    looked_for = [twin(module) for module in modules() if module.name != "__init__.py" and has_logic(module)]

    assert [str(path) for path in looked_for if not (ROOT / path).exists()] == []


def test_a_protocol_has_no_logic_and_a_function_has():
    assert not has_logic(Path("engine/cache/base.py"))
    assert has_logic(Path("engine/verification/lossless.py"))
