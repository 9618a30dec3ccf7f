"""Observations side by side, each in a process of its own: for what no clock judges.

A worker is forked, so it has the models and all that was observed so far, and computes what this process would have
computed. It does so once: what it raises is raised here, and where it is lost nothing takes its place. Knows nothing
about what is observed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from .errors import WorkerLost
from .record import Made, timed

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    Running = dict[Connection, tuple[str, ForkProcess]]

Compute = Callable[[], Any]


def at_once() -> int:
    """How many observations may be made at once: 1, here, where models use several threads or forks are not safe.

    A pool of threads does not survive a fork: a worker that computes on more than one would wait for ever.
    """
    return 1 if torch.get_num_threads() > 1 or sys.platform != "linux" else len(os.sched_getaffinity(0))


def observe(
    steps: Mapping[str, Compute], workers: int, *, begin: Callable[[str], None], take: Callable[[str, Made], None]
) -> None:
    """Makes every observation, `workers` at once, begun in order; `take` gets each as soon as it is made.

    Raises what the first worker to fail raised, or WorkerLost for one that was killed. None outlives this call.
    """
    if workers == 1:
        for key, compute in steps.items():
            begin(key)
            take(key, timed(compute))
        return
    waiting = list(steps.items())
    running: Running = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                key, compute = waiting.pop(0)
                begin(key)
                _start(running, key, compute)
            for answer in wait(list(running)):
                assert isinstance(answer, Connection)
                take(running[answer][0], _received(answer, *running[answer]))
                del running[answer]
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def _start(running: Running, key: str, compute: Compute) -> None:
    answer, sender = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_work, args=(sender, compute), name=key, daemon=True)
    process.start()
    running[answer] = (key, process)
    sender.close()  # the worker's copy is the last one: when it goes, its end is seen here


def _received(answer: Connection, key: str, process: ForkProcess) -> Made:
    try:
        found = answer.recv()
    except EOFError:
        process.join()
        raise WorkerLost(
            f"the process that observed {key} ended without an answer (exit code {process.exitcode}; -9 is often a "
            "lack of memory); make room, or keep to one core with taskset -c 0, and go on with --resume"
        ) from None
    process.join()
    if isinstance(found, Made):
        return found
    raise found


def _work(sender: Connection, compute: Compute) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):  # they reach the whole group; the parent ends its workers
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        found: Made | Exception = timed(compute)
    except Exception as error:  # noqa: BLE001 - a boundary: raised again in the parent
        error.add_note(traceback.format_exc())
        found = error
    sender.send(found)


def _end_with_parent() -> NoReturn:
    """Nobody is left to hear a worker whose parent was killed, and the record that it holds open could not be resumed.

    Workers begun later hold the sentinel open as well; the last one sees its end first, then the others.
    """
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
