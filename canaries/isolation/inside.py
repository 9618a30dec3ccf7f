"""Runs one program and evaluates expressions in it: all that stands in one process with what a model wrote.

A script of the standard library alone, started by `outside.py`: `inside.py REPORT CPU MEMORY OUTPUT`, with marshalled
(program, expressions) on standard input. What goes to the file descriptor REPORT: `ready`, once the limits stand; then
`values [...]`, or a word that says why there are none. The values that are expected never come here, so no program can
claim them.
"""

from __future__ import annotations

import builtins
import marshal
import os
import resource
import signal
import sys
from functools import partial
from itertools import product
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN = (  # audit events (PEP 578) that a function of its arguments has no use for; openings to write beside them
    "os", "shutil", "subprocess", "socket", "ctypes", "pty", "fcntl", "resource", "signal", "syslog", "tempfile",
    "mmap", "sqlite3", "urllib", "ftplib", "http", "smtplib", "time", "webbrowser", "sys.remote_exec", "_thread",
)  # fmt: skip
LOOKS = {"os.listdir", "os.scandir", "os.walk"}  # what an import does
UNAUDITED = ("_posixsubprocess",)  # starts processes without an event: cannot be imported
SILENT = {  # calls of the same sort that Python makes without an event
    "os": (
        "chroot", "copy_file_range", "initgroups", "login_tty", "memfd_create", "mkfifo", "mknod", "nice", "openpty",
        "posix_fallocate", "posix_openpt", "sched_setaffinity", "sched_setparam", "sched_setscheduler", "sendfile",
        "setegid", "seteuid", "setgid", "setgroups", "setns", "setpgid", "setpgrp", "setpriority", "setregid",
        "setresgid", "setresuid", "setreuid", "setsid", "setuid", "splice", "umask", "unshare",
    ),
    "_thread": ("start_new_thread", "start_joinable_thread"),
    "signal": ("alarm", "pidfd_send_signal", "pthread_sigmask", "raise_signal", "setitimer", "signal"),
}  # fmt: skip
BENEATH = {"os": "posix", "signal": "_signal", "_thread": "_thread"}  # where the same calls stand once more
OPEN_FILES = 64


def main(report: int, cpu: int, memory: int, output: int) -> None:
    """The report was written, unless the program ended the process before."""
    limit(cpu, memory, output)
    program, expressions = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 - written by our own parent
    write, leave = os.write, os._exit

    def guard(event: str, details: tuple[Any, ...]) -> None:
        if forbidden(event, details):
            write(report, b"forbidden " + event.encode())
            leave(0)

    sys.modules |= dict.fromkeys(UNAUDITED)  # type: ignore[arg-type]  # None forbids an import
    announce()
    sys.addaudithook(guard)
    write(report, b"ready ")
    write(report, outcome(program, expressions).encode("utf-8", "replace"))
    leave(0)


def limit(cpu: int, memory: int, output: int) -> None:
    """The limits of this process: seconds, bytes, bytes that one file may grow to; no child, no core file."""
    wanted = {
        resource.RLIMIT_CPU: (cpu, cpu + 1),  # SIGXCPU, then SIGKILL for a program that ignores it
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_FSIZE: (output, output),
        resource.RLIMIT_NPROC: (0, 0),
        resource.RLIMIT_NOFILE: (OPEN_FILES, OPEN_FILES),
        resource.RLIMIT_CORE: (0, 0),
    }
    for what, pair in wanted.items():
        resource.setrlimit(what, pair)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and a program may ignore the error


def announce() -> None:
    """Calls that are made without an event are events from now on, and are not made."""
    for module, names in SILENT.items():
        for place, name in product({module, BENEATH[module]}, names):
            if hasattr(sys.modules[place], name):
                setattr(sys.modules[place], name, partial(sys.audit, f"{module}.{name}"))


def forbidden(event: str, details: tuple[Any, ...]) -> bool:
    """Whether an audit event is one that ends the program."""
    if event == "open":
        return bool(details[2] & WRITES)
    return (event.partition(".")[0] in FORBIDDEN and event not in LOOKS) or event in FORBIDDEN


def outcome(program: str, expressions: list[str]) -> str:
    """The report: `values` and their literals, or `syntax`, `memory`, `exits`, `raises NAME`.

    Names of builtins mean the builtins in the expressions, whatever the program made of them.
    """
    genuine, evaluate, space = dict(vars(builtins)), eval, {"__name__": "answer"}
    try:
        code = compile(program, "answer", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return "syntax"
    try:
        exec(code, space)  # noqa: S102 - what this process is for
        own = {name: value for name, value in space.items() if name not in genuine} | {"__builtins__": genuine}
        return f"values {[evaluate(expression, own) for expression in expressions]!r}"
    except SystemExit:
        return "exits"
    except MemoryError:
        return "memory"
    except BaseException as error:  # noqa: BLE001 - whatever it raises is a report
        return f"raises {type(error).__name__}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
