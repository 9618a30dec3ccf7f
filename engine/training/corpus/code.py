"""Small Python functions from a description, each with asserts that the reference passes.

A description is put together from conditions, changes and aggregates, and so is the code; some compositions are held
out, as are names. What has one part only is never held out: nothing that was learned would lead to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .sample import Sample, turns
from .words import Draw, expand

ORDERS = expand(
    "(Write|Define|Give|Make) (a|the) (Python |)function {head} that returns {what}.",
    "(In Python|Python|Code): {head} (returns|gives) {what}.",
    "(Write|Define) {head}. It (returns|should return|gives back) {what}.",
)
LETTERS = ("a", "b", "c", "k", "n", "m", "p", "q", "s", "t", "x", "y", "z")
NUMBERS: tuple[Any, ...] = (0, 1, 4, 7, 12)
LISTS: tuple[Any, ...] = ([3, 8, 5, 12, 6], [1, -2, 9, 4, 20, 7])
TEXTS: tuple[Any, ...] = ("Abc de", " stone ", "level")
WORDS: tuple[Any, ...] = (["apple", "sun", "Tree", "banana"], ["oak", "ant", "river", "a"])


@dataclass(frozen=True, slots=True)
class Function:
    """A function before it has a name: `{name}` stands for it in the body, arguments are real.

    composition
        What decides whether it is held out: its parts without constants and names.
    inputs
        One tuple of arguments for each assert.
    """

    composition: str
    arguments: tuple[str, ...]
    what: str
    body: str
    inputs: tuple[tuple[Any, ...], ...]


def code(draw: Draw, *, shared: bool = True) -> Sample:
    """A function of a name and description that the prompt gives. Not `shared`: of no composition that has one part."""
    made = draw.composed(lambda: draw.of(FAMILIES)(draw), lambda function: function.composition, of_one_part)
    while not shared and of_one_part(made.composition):
        made = draw.composed(lambda: draw.of(FAMILIES)(draw), lambda function: function.composition, of_one_part)
    name = draw.verb_noun()
    head = f"{name}({', '.join(made.arguments)})"
    lines = [f"    {line}" for line in made.body.format(name=name).split("\n")]
    text = "\n".join([f"def {head}:", *lines])
    order = draw.order(ORDERS).format(head=head, what=made.what)
    return Sample(messages=turns(order, text), asserts=asserts(text, name, made.inputs))


def of_one_part(composition: str) -> bool:
    """Whether nothing was put together: the larger of two numbers, a text reversed by recursion."""
    return composition.startswith("pair ") or composition == "recursion reverse"


def asserts(text: str, name: str, inputs: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """What the reference returns for the inputs, as lines of Python."""
    space: dict[str, Any] = {}
    exec(text, space)  # noqa: S102 - text that this file wrote
    calls = [f"{name}({', '.join(map(repr, given))})" for given in inputs]
    return tuple(f"assert {call} == {space[name](*given)!r}" for call, given in zip(calls, inputs, strict=True))


def _condition(draw: Draw, x: str) -> tuple[str, str, str]:
    """Its name, its words and its code, for a number `x`."""
    k = draw.number(2, 9)
    return draw.of(
        (
            ("even", "even", f"{x} % 2 == 0"),
            ("odd", "odd", f"{x} % 2 == 1"),
            ("greater", f"greater than {k}", f"{x} > {k}"),
            ("less", f"less than {k}", f"{x} < {k}"),
            ("least", f"at least {k}", f"{x} >= {k}"),
            ("most", f"at most {k}", f"{x} <= {k}"),
            ("divides", f"divisible by {k}", f"{x} % {k} == 0"),
            ("not", f"not {k}", f"{x} != {k}"),
        )
    )


def _change(draw: Draw, x: str) -> tuple[str, str, str]:
    k = draw.number(2, 9)
    return draw.of(
        (
            ("same", "", x),
            ("double", "doubled", f"{x} * 2"),
            ("square", "squared", f"{x} * {x}"),
            ("plus", f"plus {k}", f"{x} + {k}"),
            ("minus", f"minus {k}", f"{x} - {k}"),
            ("times", f"times {k}", f"{x} * {k}"),
            ("negate", "negated", f"-{x}"),
        )
    )


def _text_change(draw: Draw, s: str) -> tuple[str, str, str]:
    end = draw.word()
    return draw.of(
        (
            ("upper", "in upper case", f"{s}.upper()"),
            ("lower", "in lower case", f"{s}.lower()"),
            ("reverse", "reversed", f"{s}[::-1]"),
            ("strip", "stripped", f"{s}.strip()"),
            ("twice", "repeated twice", f"{s} * 2"),
            ("end", f"followed by {end}", f'{s} + "{end}"'),
            ("start", f"after {end}", f'"{end}" + {s}'),
        )
    )


def _text_condition(draw: Draw, s: str) -> tuple[str, str, str]:
    k, sign = draw.number(2, 6), draw.of("aeinorst")
    return draw.of(
        (
            ("long", f"longer than {k}", f"len({s}) > {k}"),
            ("short", f"shorter than {k}", f"len({s}) < {k}"),
            ("has", f"containing {sign}", f'"{sign}" in {s}'),
            ("starts", f"starting with {sign}", f'{s}.startswith("{sign}")'),
            ("ends", f"ending with {sign}", f'{s}.endswith("{sign}")'),
        )
    )


def _argument(draw: Draw) -> str:
    return draw.of(LETTERS) if draw.chance(0.4) else draw.key()


def _arithmetic(draw: Draw) -> Function:
    names = draw.distinct(lambda: _argument(draw), draw.of((2, 2, 3)))
    words = {"+": "plus", "-": "minus", "*": "times"}
    terms = [*names, str(draw.number(2, 9))][: draw.number(len(names), len(names) + 1)]
    signs = [draw.of("+-*") for _ in terms[1:]]
    what, text = terms[0], terms[0]
    for place, (sign, term) in enumerate(zip(signs, terms[1:], strict=True)):
        what += f"{', then' if place else ''} {words[sign]} {term}"
        text = (
            f"({text}) {sign} {term}" if place and sign == "*" and signs[place - 1] != "*" else f"{text} {sign} {term}"
        )
    inputs = tuple(tuple(draw.number(0, 9) for _ in names) for _ in range(3))
    return Function("arithmetic " + " ".join(signs), tuple(names), what, f"return {text}", inputs)


def _text(draw: Draw) -> Function:
    s = _argument(draw)
    first, words, text = _text_change(draw, s)
    if draw.chance(0.5):
        whole = text if text.endswith((")", "]")) and "(" not in text[:1] and " " not in text else f"({text})"
        second, more, text = _text_change(draw, whole)
        first, words = f"{first} {second}", f"{words}, then {more}"
    return Function(f"text {first}", (s,), f"{s} {words}", f"return {text}", tuple((t,) for t in TEXTS))


def _filter(draw: Draw) -> Function:
    xs, (test, words, condition), (change, changed, value) = _argument(draw), _condition(draw, "x"), _change(draw, "x")
    what = f"the numbers in {xs} that are {words}" + (f", each {changed}" if changed else "")
    if draw.chance(0.4):
        body = f"found = []\nfor x in {xs}:\n    if {condition}:\n        found.append({value})\nreturn found"
        return Function(f"loop {test} {change}", (xs,), f"{what}, with a loop", body, _lists())
    return Function(f"filter {test} {change}", (xs,), what, f"return [{value} for x in {xs} if {condition}]", _lists())


def _aggregate(draw: Draw) -> Function:
    xs, (test, words, condition), (change, changed, value) = _argument(draw), _condition(draw, "x"), _change(draw, "x")
    what = f"the numbers in {xs} that are {words}" + (f", each {changed}" if changed else "")
    kind = draw.of(("sum", "count", "sum loop", "count loop"))
    if kind == "sum":
        body = f"return sum({value} for x in {xs} if {condition})"
    elif kind == "sum loop":
        body = f"total = 0\nfor x in {xs}:\n    if {condition}:\n        total += {value}\nreturn total"
    else:
        what, change = f"the numbers in {xs} that are {words}", "same"
        body = f"return len([x for x in {xs} if {condition}])"
        if kind == "count loop":
            body = f"total = 0\nfor x in {xs}:\n    if {condition}:\n        total += 1\nreturn total"
    opening = "the sum of " if kind.startswith("sum") else "how many there are of "
    ending = ", with a loop" if kind.endswith("loop") else ""
    return Function(f"{kind} {test} {change}", (xs,), opening + what + ending, body, _lists())


def _words(draw: Draw) -> Function:
    ws, (test, words, condition) = _argument(draw), _text_condition(draw, "w")
    change, changed, value = draw.of((("same", "", "w"), _text_change(draw, "w"), _text_change(draw, "w")))
    what = f"the words in {ws} {words}" + (f", each {changed}" if changed else "")
    body = f"return [{value} for w in {ws} if {condition}]"
    if draw.chance(0.3):
        what, body, change = (
            f"the words in {ws} {words}, joined by a dash",
            f'return "-".join(w for w in {ws} if {condition})',
            "join",
        )
    return Function(f"words {test} {change}", (ws,), what, body, tuple((w,) for w in WORDS))


def _branch(draw: Draw) -> Function:
    n = _argument(draw)
    test, words, condition = _condition(draw, n)
    yes, no = draw.distinct(draw.word, 2)
    if draw.chance(0.4):
        (second, more, other), third = _condition(draw, n), draw.word()
        what = f"{yes} if {n} is {words}, {no} if it is {more}, otherwise {third}"
        body = f'if {condition}:\n    return "{yes}"\nif {other}:\n    return "{no}"\nreturn "{third}"'
        return Function(f"branch {test} {second}", (n,), what, body, _numbers())
    what = f"{yes} if {n} is {words}, otherwise {no}"
    return Function(f"branch {test}", (n,), what, f'if {condition}:\n    return "{yes}"\nreturn "{no}"', _numbers())


def _branch_value(draw: Draw) -> Function:
    n = _argument(draw)
    (test, words, condition), (one, first, yes), (two, second, no) = (
        _condition(draw, n),
        _change(draw, n),
        _change(draw, n),
    )
    what = f"{n}{' ' + first if first else ''} if {n} is {words}, otherwise {n}{' ' + second if second else ''}"
    body = f"if {condition}:\n    return {yes}\nreturn {no}"
    return Function(f"value {test} {one} {two}", (n,), what, body, _numbers())


def _recursion(draw: Draw) -> Function:
    n = _argument(draw)
    change, changed, value = _change(draw, n)
    each = f", each {changed}" if changed else ""
    if draw.chance(0.3):
        s = n
        what = f"{s} reversed, by recursion"
        return Function(
            "recursion reverse",
            (s,),
            what,
            f"if not {s}:\n    return {s}\nreturn {{name}}({s}[1:]) + {s}[0]",
            tuple((t,) for t in TEXTS),
        )
    value = f"({value})" if value.startswith("-") else value
    sign, word, start = draw.of((("+", "sum", "0"), ("*", "product", "1")))
    value = f"({value})" if sign == "*" and " " in value else value
    what = f"the {word} of the numbers from 1 to {n}{each}, by recursion"
    body = f"if {n} == 0:\n    return {start}\nreturn {value} {sign} {{name}}({n} - 1)"
    return Function(f"recursion {word} {change}", (n,), what, body, ((0,), (1,), (5,)))


def _range_loop(draw: Draw) -> Function:
    n, (change, changed, value) = _argument(draw), _change(draw, "i")
    each = f", each {changed}" if changed else ""
    kind, opening = draw.of((("list", "the list of"), ("total", "the sum of")))
    what = f"{opening} the numbers from 1 to {n}{each}"
    if kind == "list":
        return Function(
            f"range list {change}", (n,), what, f"return [{value} for i in range(1, {n} + 1)]", ((0,), (4,))
        )
    body = f"total = 0\nfor i in range(1, {n} + 1):\n    total += {value}\nreturn total"
    return Function(f"range total {change}", (n,), f"{what}, with a loop", body, ((0,), (4,), (7,)))


def _pairs(draw: Draw) -> Function:
    a, b = draw.distinct(lambda: _argument(draw), 2)
    name, what, body = draw.of(
        (
            ("larger", f"the larger of {a} and {b}", f"return max({a}, {b})"),
            ("smaller", f"the smaller of {a} and {b}", f"return min({a}, {b})"),
            ("gap", f"the distance between {a} and {b}", f"return abs({a} - {b})"),
            ("equal", f"whether {a} and {b} are equal", f"return {a} == {b}"),
            ("ordered", f"whether {a} is less than {b}", f"return {a} < {b}"),
            ("tuple", f"{b} and {a} as a tuple", f"return ({b}, {a})"),
            ("list", f"{a} and {b} as a list", f"return [{a}, {b}]"),
        )
    )
    return Function(f"pair {name}", (a, b), what, body, ((3, 8), (9, 2), (5, 5)))


def _numbers() -> tuple[tuple[Any, ...], ...]:
    return tuple((n,) for n in NUMBERS)


def _lists() -> tuple[tuple[Any, ...], ...]:
    return tuple((xs,) for xs in LISTS)


FAMILIES: tuple[Callable[[Draw], Function], ...] = (
    _arithmetic,
    _text,
    _filter,
    _aggregate,
    _words,
    _branch,
    _branch_value,
    _recursion,
    _range_loop,
    _pairs,
)
