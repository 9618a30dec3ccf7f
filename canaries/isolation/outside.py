"""Runs what a model wrote in a process of its own, and says how that ended. Knows nothing about right answers.

Python without the user's paths and packages (`-P -s -S`), an environment of a fixed hash seed alone (which `-I` would
ignore), a temporary folder, limits on processor time, memory, files, processes, output and wall time, no network where
the system lets us forbid it. A cage for accidents, which is what models write; a program made to break out needs a
machine of its own.
"""

from __future__ import annotations

import ast
import marshal
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

INSIDE = Path(__file__).with_name("inside.py")
CPU = 1  # seconds; an honest answer takes a fortieth, the start included
WALL = 10.0  # seconds: far above CPU, so that a busy machine ends no honest program
MEMORY = 512 << 20  # bytes of address space; the interpreter alone takes a twentieth
OUTPUT = 64 << 10  # bytes that may be printed, and that a report may have
SAME_ORDER = {"PYTHONHASHSEED": "0"}  # of a set of strings: judged again, a program must give the same values
AT_ONCE = 2  # programs that run at the same time


class Ending(StrEnum):
    """How a program ended. Only ANSWERED comes with values."""

    ANSWERED = "answers"
    SYNTAX = "is not Python"
    RAISED = "raises an exception"
    EXITED = "ends before it answers"
    FORBIDDEN = "does what a function must not"
    SLOW = f"runs longer than {CPU} s of processor or {WALL:g} s of wall time"
    MEMORY = f"needs more than {MEMORY >> 20} MB"
    LOUD = f"prints more than {OUTPUT >> 10} KB"
    OPAQUE = "gives a value that is no literal"
    NOT_RUN = "could not be run"


class Ran(NamedTuple):
    """What came of one program: a value for each expression, or none; `detail` names what was raised or forbidden."""

    ending: Ending
    values: tuple[Any, ...] = ()
    detail: str = ""


TOLD = {
    "syntax": Ending.SYNTAX,
    "raises": Ending.RAISED,
    "exits": Ending.EXITED,
    "forbidden": Ending.FORBIDDEN,
    "memory": Ending.MEMORY,
}
KILLED: dict[int, Ending] = {
    signal.SIGXCPU: Ending.SLOW,
    signal.SIGXFSZ: Ending.LOUD,
    signal.SIGKILL: Ending.NOT_RUN,  # by the system, which is short of memory: a program cannot send itself a signal
    signal.SIGTERM: Ending.NOT_RUN,
}


class _NotRun(Exception):
    """The program could not be run now; it may be later, so that nothing is remembered."""


def run(program: str, expressions: tuple[str, ...]) -> Ran:
    """What the expressions are worth after the program ran; a program that was run is not run again."""
    try:
        return _once(program, expressions)
    except _NotRun:
        return Ran(Ending.NOT_RUN)


@cache
def _once(program: str, expressions: tuple[str, ...]) -> Ran:
    """What came of the program. Raises _NotRun where nothing did."""
    with tempfile.TemporaryDirectory(prefix="answer-") as folder, tempfile.TemporaryFile() as given:
        given.write(marshal.dumps((program, list(expressions))))
        given.seek(0)
        try:
            ran = _run(folder, given)
        except OSError as error:
            raise _NotRun from error
    if ran.ending is Ending.NOT_RUN:
        raise _NotRun
    return ran


def run_all(asked: Iterable[tuple[str, tuple[str, ...]]]) -> None:
    """Each of these was run, AT_ONCE at a time: `run` has their outcomes at hand."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda one: run(*one), dict.fromkeys(asked)))


def able() -> bool:
    """Whether programs can be run here at all, and what they must not do is seen."""
    if not sys.executable or os.name != "posix":
        return False
    honest = run("def f(x):\n    return x + 1\n", ("f(1)",))
    return (2,) == honest.values and run("open('there', 'w')", ()).ending is Ending.FORBIDDEN


@cache
def without_network() -> tuple[str, ...]:
    """The command that starts a process without network; empty where the system does not let us."""
    unshare = shutil.which("unshare")
    for options in (("--net",), ("--user", "--net")) if unshare else ():
        command = (str(unshare), *options)
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run([*command, "true"], capture_output=True, timeout=WALL, check=False)  # noqa: S603
            if done.returncode == 0:
                return command
    return ()


def _run(folder: str, given: Any) -> Ran:
    listening, reporting = os.pipe()
    with os.fdopen(listening, "rb", buffering=0):
        try:
            process = _started(folder, given, reporting)
        finally:
            os.close(reporting)
        until, report = time.monotonic() + WALL, None
        try:
            report = _heard(listening, until)
            if report is not None and len(report) <= OUTPUT:  # it is ending: what ended it is not to be our signal
                process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            report = None
        finally:
            with suppress(ProcessLookupError, PermissionError):  # nobody is left but one that has ended
                os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
    return _read(report, status)


def _started(folder: str, given: Any, reporting: int) -> subprocess.Popen[bytes]:
    limits = map(str, (reporting, CPU, MEMORY, OUTPUT))
    with (Path(folder) / "printed").open("wb") as printed:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and script
            [*without_network(), sys.executable, "-P", "-s", "-S", "-B", INSIDE, *limits],
            cwd=folder,
            env=SAME_ORDER,
            stdin=given,
            stdout=printed,
            stderr=printed,
            pass_fds=(reporting,),
            start_new_session=True,
        )


def _heard(pipe: int, until: float) -> bytes | None:
    """All that comes until the pipe is closed, cut beyond OUTPUT; None where time is up first."""
    heard, poll = b"", select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    while len(heard) <= OUTPUT:
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            return None
        part = os.read(pipe, OUTPUT)
        if not part:
            break
        heard += part
    return heard


def _read(report: bytes | None, status: int) -> Ran:
    if report is None:
        return Ran(Ending.SLOW)
    ready, _, told = report.decode("utf-8", "replace").partition(" ")
    if ready != "ready":
        return Ran(Ending.NOT_RUN)
    if not told:
        return Ran(KILLED.get(-status, Ending.EXITED))
    word, _, rest = told.partition(" ")
    if word != "values":
        return Ran(TOLD.get(word, Ending.OPAQUE), detail=rest if rest.replace(".", "").isidentifier() else "")
    try:
        return Ran(Ending.ANSWERED, tuple(ast.literal_eval(rest)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return Ran(Ending.OPAQUE)
