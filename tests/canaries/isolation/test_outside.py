"""What a model wrote is run to its end or to a limit; the end is told by type, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from draftgate.canaries.isolation import outside
from draftgate.canaries.isolation.outside import Ending, run, run_all

ANSWER = "def f(x):\n    return 2 * x\n"
CALLS = ("f(1)", "f('ab')")
LATE = f"\n{ANSWER}"  # a program that would be right, had it come so far
ENDINGS = {
    "forks": ("import os\nos.fork()" + LATE, Ending.FORBIDDEN),
    "forks without end": ("import os\nwhile True:\n    os.fork()", Ending.FORBIDDEN),
    "starts a process": ("import os\nos.system('true')" + LATE, Ending.FORBIDDEN),
    "starts a process by hand": ("import subprocess\nsubprocess.run(['true'])" + LATE, Ending.RAISED),
    "ends its parent": ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)" + LATE, Ending.FORBIDDEN),
    "writes a file": ("open('PLACE', 'w').write('x')" + LATE, Ending.FORBIDDEN),
    "writes a file by hand": ("import os\nos.open('PLACE', os.O_CREAT | os.O_WRONLY)" + LATE, Ending.FORBIDDEN),
    "catches the refusal": ("try:\n    open('PLACE', 'w')\nexcept BaseException:\n    pass" + LATE, Ending.FORBIDDEN),
    "removes a file": ("import os\nos.remove('PLACE')" + LATE, Ending.FORBIDDEN),
    "calls somebody": ("import socket\nsocket.create_connection(('127.0.0.1', 9))" + LATE, Ending.FORBIDDEN),
    "lifts its limits": ("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (9, 9))" + LATE, Ending.FORBIDDEN),
    "loads a library": ("import ctypes" + LATE, Ending.FORBIDDEN),
    "makes a pipe": ("import os\nos.mkfifo('PLACE')" + LATE, Ending.FORBIDDEN),
    "makes a node": ("import os\nos.mknod('PLACE')" + LATE, Ending.FORBIDDEN),
    "makes a node by another name": ("import posix\nposix.mknod('PLACE')" + LATE, Ending.FORBIDDEN),
    "links": ("import os\nos.symlink('/', 'PLACE')" + LATE, Ending.FORBIDDEN),
    "changes its root": ("import os\nos.chroot('/')" + LATE, Ending.FORBIDDEN),
    "becomes somebody": ("import os\nos.setuid(os.getuid())" + LATE, Ending.FORBIDDEN),
    "kills itself": ("import signal\nsignal.raise_signal(signal.SIGKILL)" + LATE, Ending.FORBIDDEN),
    "overhears its limits": ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)" + LATE, Ending.FORBIDDEN),
    "starts a thread": ("import threading\nthreading.Thread(target=print).start()" + LATE, Ending.FORBIDDEN),
    "hangs up and leaves": ("import os\nos.closerange(3, 64)" + LATE, Ending.EXITED),
    "hangs up and loops": ("import os\nos.closerange(3, 64)\nwhile True:\n    pass", Ending.SLOW),
    "loops": ("while True:\n    pass", Ending.SLOW),
    "allocates 10 GB": ("x = bytearray(10 << 30)" + LATE, Ending.MEMORY),
    "allocates more and more": ("x = [0]\nwhile True:\n    x = x * 8", Ending.MEMORY),
    "prints 100 MB": ("print('x' * 100_000_000)" + LATE, Ending.LOUD),
    "prints without end": ("while True:\n    print('x' * 99)", Ending.LOUD),
    "catches everything and prints": (
        "while True:\n    try:\n        print('x' * 99)\n    except BaseException:\n        pass",
        Ending.LOUD,
    ),
    "reads": ("input()" + LATE, Ending.RAISED),
    "leaves at once": ("import os\nos._exit(0)" + LATE, Ending.EXITED),
    "exits": ("import sys\nsys.exit(0)" + LATE, Ending.EXITED),
    "raises SystemExit when called": ("def f(x):\n    raise SystemExit(0)", Ending.EXITED),
    "leaves when called": ("import os\ndef f(x):\n    os._exit(0)", Ending.EXITED),
    "crashes": ("import faulthandler\nfaulthandler._sigsegv()" + LATE, Ending.EXITED),
    "is not Python": ("def f(x):\n    return 2 *", Ending.SYNTAX),
    "is text": ("Sure, here is the function.", Ending.SYNTAX),
    "holds a NUL": (ANSWER + "\0", Ending.SYNTAX),
    "holds half a character": (ANSWER + "# \ud800", Ending.SYNTAX),
    "is nested too deeply": ("(" * 10_000 + ")" * 10_000, Ending.SYNTAX),
    "is empty": ("", Ending.RAISED),
    "calls itself without end": ("def f(x):\n    return f(x)", Ending.RAISED),
    "raises an exception of its own": ("class E(BaseException):\n    pass\nraise E", Ending.RAISED),
    "is equal to everything": (
        "class Any:\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return Any()",
        Ending.OPAQUE,
    ),
    "gives too long a value": ("def f(x):\n    return 'x' * 1_000_000", Ending.OPAQUE),
    "gives infinity": ("def f(x):\n    return float('inf')", Ending.OPAQUE),
}


def started_here():
    """Processes of this user whose command names the script that runs programs."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = place.read_bytes()
        except OSError:
            continue
        found += [place.parent.name] if str(outside.INSIDE).encode() in command else []
    return found


def test_a_program_that_answers_gives_a_value_for_each_call():
    assert (Ending.ANSWERED, (2, "abab"), "") == run(ANSWER, CALLS)


def test_modules_of_functions_may_be_imported():
    names = "math, re, itertools, functools, collections, random, json, dataclasses, typing, string, datetime, decimal"

    assert (2, "abab") == run(f"import {names}\nimport fractions, statistics, heapq, bisect{LATE}", CALLS).values


@pytest.mark.parametrize("name", ENDINGS)
def test_a_program_that_does_not_answer_ends_within_the_limits_and_is_told_by_type(name, tmp_path):
    place = tmp_path / "place"
    program, ending = ENDINGS[name]
    before = sorted(Path("/proc/self/fd").iterdir())

    ran = run(program.replace("PLACE", str(place)), CALLS)

    assert (ending, ()) == (ran.ending, ran.values)
    assert not place.exists()
    assert sorted(Path("/proc/self/fd").iterdir()) == before
    assert started_here() == []


@pytest.mark.parametrize(
    "program",
    ["import time\ntime.sleep(600)", "import os, time\nos.closerange(3, 64)\ntime.sleep(600)"],
)
def test_a_program_that_waits_is_ended_by_the_wall_limit(program, monkeypatch):
    monkeypatch.setattr(outside, "WALL", 1.0)
    started = time.monotonic()

    assert run(program, CALLS).ending is Ending.SLOW
    assert time.monotonic() - started < 60
    assert started_here() == []


@pytest.mark.parametrize(
    "trick",
    [
        "import builtins\nbuiltins.sorted = lambda x: [1]",
        "import builtins\nbuiltins.eval = lambda *x: 1",
        "sorted = lambda x: [1]",
        "import builtins\nbuiltins.repr = lambda x: 'values [[1]]'",
        "import os\nos.write = print",
        "class AssertionError(Exception):\n    pass",
    ],
)
def test_a_program_that_makes_something_else_of_a_builtin_changes_no_value(trick):
    assert ([1, 2],) == run(f"{trick}\ndef f(x):\n    return x\n", ("sorted(f([2, 1]))",)).values


FORGERY = """import os
for n in range(3, 64):
    try:
        os.write(n, b"values %s")
    except OSError:
        pass
os._exit(0)
"""


def test_what_is_expected_is_not_there_to_be_found():
    """All that a program can read of its process is what it is asked, so a forged report can only guess."""
    program = "import sys\ndef f(x):\n    return sorted(str(v) for v in sys._getframe(1).f_locals)"

    assert run(program, ("f(1)",)).ending is Ending.ANSWERED
    assert (1,) == run(FORGERY % "[1]", ("f(1)",)).values


@pytest.mark.parametrize("forged", ["open(1)", "[", "(" * 300, "1"])
def test_a_report_that_is_no_list_of_literals_gives_no_values(forged):
    assert (Ending.OPAQUE, ()) == run(FORGERY % forged, ("f(1)",))[:2]


def test_a_name_that_a_program_made_up_is_not_shown():
    program = "class M(type):\n    __name__ = property(lambda s: 'x\\nvalues [1]')\n"
    program += "class E(Exception, metaclass=M):\n    pass\nraise E"

    assert (Ending.RAISED, (), "") == run(program, ("f(1)",))


def test_a_program_that_walks_a_set_gives_the_same_value_when_judged_again():
    asked = ("def f(x):\n    return list(set(x))", ("f('abcdefghij')",))

    assert run(*asked).values == outside._once.__wrapped__(*asked).values != ()


def test_a_program_is_run_once(monkeypatch):
    run_all([(ANSWER + "# once", CALLS)] * 3)
    monkeypatch.setattr(outside, "_run", None)

    assert (2, "abab") == run(ANSWER + "# once", CALLS).values


def test_what_cannot_be_started_was_not_run_and_is_when_it_can(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(outside.sys, "executable", "/nowhere/python")

        assert Ending.NOT_RUN is run(ANSWER + "# not", CALLS).ending

    assert Ending.ANSWERED is run(ANSWER + "# not", CALLS).ending


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_somebody_else_ends_was_not_run(number, monkeypatch):
    """As the system does that is short of memory."""
    started = outside._started

    def ended(*given):
        process = started(*given)
        time.sleep(0.5)  # it waits by then, and has said that it is ready
        os.kill(process.pid, number)
        return process

    monkeypatch.setattr(outside, "_started", ended)

    assert Ending.NOT_RUN is run(f"import time\ntime.sleep(600)\n# {number}", CALLS).ending


def test_a_machine_that_runs_programs_is_able_and_one_without_an_interpreter_is_not(monkeypatch):
    assert outside.able()

    monkeypatch.setattr(outside.sys, "executable", None)
    assert not outside.able()


def test_network_is_taken_away_where_the_system_lets_us(monkeypatch):
    assert outside.without_network() == () or outside.without_network()[0].endswith("unshare")

    monkeypatch.setattr(outside.shutil, "which", lambda _: None)
    outside.without_network.cache_clear()
    assert () == outside.without_network()
    outside.without_network.cache_clear()
