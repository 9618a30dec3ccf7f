"""The calls that were asked for, in their order, a line each, and nothing else."""

import json

import pytest
from kinds import CALL, CALL_NOW, canary, judged, right

from draftgate.canaries.checks.flaws import Flaw
from draftgate.canaries.checks.tools import flaw_of_calls
from draftgate.canaries.contracts import Status

ASKED = canary("tools")


def call(document):
    return f"<tool_call>{document if isinstance(document, str) else json.dumps(document)}</tool_call>"


def both(first):
    return f"{first}\n{CALL_NOW}"


def test_the_calls_that_were_asked_for_are_right():
    assert flaw_of_calls(ASKED, both(CALL)) is None
    assert flaw_of_calls(ASKED, both(call({"arguments": {"b": 2, "a": 1}, "name": "add"}))) is None


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", Flaw.NOT_A_CALL),
        (CALL, Flaw.OTHER_CALLS),
        (f"{CALL_NOW}\n{CALL}", Flaw.OTHER_CALLS),
        (f"{both(CALL)}\n{CALL}", Flaw.OTHER_CALLS),
        (both(CALL) + "\n", Flaw.NOT_A_CALL),
        ("I will call.\n" + both(CALL), Flaw.NOT_A_CALL),
        (f"{CALL}{CALL_NOW}", Flaw.TRAILING),
        (both(CALL)[:-1], Flaw.NOT_A_CALL),
        (both(call("{}")), Flaw.NOT_A_CALL),
        (both(call("[]")), Flaw.NOT_A_CALL),
        (both(call({"name": "add", "arguments": {"a": 1, "b": 2}, "id": 1})), Flaw.NOT_A_CALL),
        (both(call({"name": ["add"], "arguments": {"a": 1, "b": 2}})), Flaw.NOT_A_CALL),
        (both(call({"name": "add", "arguments": '{"a": 1, "b": 2}'})), Flaw.NOT_A_CALL),
        (both(call({"name": "sub", "arguments": {"a": 1, "b": 2}})), Flaw.UNKNOWN_TOOL),
        (both(call({"name": "add", "arguments": {"a": 1}})), Flaw.WRONG_ARGUMENTS),
        (both(call({"name": "add", "arguments": {"a": 1, "b": "2"}})), Flaw.WRONG_ARGUMENTS),
        (both(call({"name": "add", "arguments": {"a": 1, "b": 3}})), Flaw.OTHER_ARGUMENTS),
        (both(call('{"name": "add", "name": "add", "arguments": {"a": 1, "b": 2}}')), Flaw.REPEATED_KEY),
        (both(call('{"name": "add", "arguments": {"a": 1, "a": 1, "b": 2}}')), Flaw.REPEATED_KEY),
        (both(call('{"name": "add", "arguments": {"a": NaN, "b": 2}}')), Flaw.NOT_FINITE),
        (both(call('{"name": "add", "arguments": {"a": 1, "b": 2}} and')), Flaw.TRAILING),
        (both(call("[" * 100_000)), Flaw.TOO_DEEP),
    ],
)
def test_calls_that_only_look_right_are_refused_for_what_they_are(text, flaw):
    assert flaw is flaw_of_calls(ASKED, text).flaw


@pytest.mark.parametrize("length", range(len(right("tools"))))
def test_a_call_cut_anywhere_is_not_valid(length):
    assert flaw_of_calls(ASKED, right("tools")[:length]) is not None


def test_a_call_cut_by_the_limit_fails_as_that():
    finding = judged("tools_valid", "tools", [right("tools")] * 2, [right("tools"), CALL[:30]], finish="length")

    assert finding.status is Status.FAIL
    assert {str(Flaw.CUT): 1} == finding.figures["flaws"]
