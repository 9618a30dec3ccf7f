"""Programs are right where every assert holds; a machine that cannot run them judges nothing."""

import pytest
from kinds import PROGRAM, canary, judged

from draftgate.canaries.checks.code import expressions, flaw_of_program
from draftgate.canaries.checks.flaws import Flaw
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.isolation import outside
from draftgate.canaries.isolation.outside import Ending, Ran

ASKED = canary("code")


def test_what_is_compared_is_known_and_what_with_is_kept_back():
    assert ("f(1)", "f('ab')") == expressions(ASKED)


@pytest.mark.parametrize(
    ("text", "flaw", "detail"),
    [
        ("def f(x):\n    return x + x", None, ""),
        ("def f(x):\n    return 2 if x == 1 else x", Flaw.OTHER_VALUE, "assert f('ab') == 'abab'"),
        ("def f(x):\n    print(x)", Flaw.OTHER_VALUE, "assert f(1) == 2"),
        ("def g(x):\n    return x + x", Ending.RAISED, "NameError"),
        ("import os\nos.fork()", Ending.FORBIDDEN, "os.fork"),
        ("def f(x:", Ending.SYNTAX, ""),
        ("import os\nos._exit(0)", Ending.EXITED, ""),
        ("class A:\n    __eq__ = lambda a, b: True\nf = lambda x: A()", Ending.OPAQUE, ""),
    ],
)
def test_an_answer_is_wrong_by_type(text, flaw, detail):
    found = flaw_of_program(ASKED, text)

    assert (flaw, detail) == (found or (None, ""))


def test_values_that_were_not_asked_for_are_no_answer(monkeypatch):
    monkeypatch.setattr(outside, "run", lambda *_: Ran(Ending.ANSWERED, (2,)))

    assert flaw_of_program(ASKED, PROGRAM).flaw is Ending.OPAQUE


def test_other_code_that_does_the_same_is_as_right_and_the_isolation_is_told():
    finding = judged("code_runs", "code", [PROGRAM], ["def f(x):\n    return x + x\n"])

    assert finding.status is Status.PASS
    assert finding.figures["isolation"] in ("no network", "network not forbidden")


def test_code_that_hangs_fails_by_type():
    finding = judged("code_runs", "code", [PROGRAM] * 2, [PROGRAM, "while True:\n    pass"])

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert {str(Ending.SLOW): 1} == finding.figures["flaws"]


@pytest.mark.parametrize("answer", [PROGRAM, "while True:\n    pass"])
def test_a_machine_that_cannot_isolate_judges_nothing(answer, monkeypatch):
    monkeypatch.setattr(outside, "able", lambda: False)

    finding = judged("code_runs", "code", [PROGRAM], [answer])

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "none" == finding.figures["isolation"]


def test_a_program_that_could_not_be_started_is_no_evidence(monkeypatch):
    monkeypatch.setattr(outside, "run", lambda *_: Ran(Ending.NOT_RUN))

    assert judged("code_runs", "code", [PROGRAM], [PROGRAM]).status is Status.INCONCLUSIVE
