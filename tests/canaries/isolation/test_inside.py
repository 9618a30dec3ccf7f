"""What stands in the process of a program: what it must not do, and what it reports. Limits are tested from outside."""

import os

import pytest

from draftgate.canaries.isolation.inside import forbidden, outcome


@pytest.mark.parametrize(
    ("event", "details"),
    [
        ("os.fork", ()),
        ("os.kill", (1, 9)),
        ("os.system", ("true",)),
        ("os.remove", ("a",)),
        ("shutil.rmtree", ("a",)),
        ("socket.__new__", ()),
        ("subprocess.Popen", ()),
        ("ctypes.dlopen", (None,)),
        ("resource.setrlimit", ()),
        ("open", ("a", "w", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)),
        ("open", ("a", None, os.O_RDWR)),
        ("open", ("a", "a", os.O_APPEND | os.O_WRONLY)),
    ],
)
def test_what_a_function_has_no_use_for_is_forbidden(event, details):
    assert forbidden(event, details)


@pytest.mark.parametrize(
    ("event", "details"),
    [("open", ("a", "r", os.O_RDONLY)), ("os.listdir", (".",)), ("import", ("math",)), ("exec", ()), ("compile", ())],
)
def test_what_an_import_does_is_not(event, details):
    assert not forbidden(event, details)


@pytest.mark.parametrize(
    ("program", "expressions", "report"),
    [
        ("def f(x):\n    return [x]", ["f(1)", "f('a')"], "values [[1], ['a']]"),
        ("def f(x):\n    return [x]", [], "values []"),
        ("def f(", ["f(1)"], "syntax"),
        ("", ["f(1)"], "raises NameError"),
        ("def f(x):\n    return 1 / 0", ["f(1)"], "raises ZeroDivisionError"),
        ("raise SystemExit", ["f(1)"], "exits"),
        ("def f(x):\n    raise MemoryError", ["f(1)"], "memory"),
        ("def len(x):\n    return 7", ["len('ab')"], "values [2]"),
        ("if __name__ == '__main__':\n    f = 1", ["f"], "raises NameError"),
    ],
)
def test_a_report_is_values_or_the_reason_why_there_are_none(program, expressions, report):
    assert report == outcome(program, expressions)
