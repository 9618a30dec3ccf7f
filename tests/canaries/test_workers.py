"""Side by side: the same observations, the same errors, and nobody left behind."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from draftgate.canaries import errors, workers
from draftgate.canaries.errors import UsageError, WorkerLost
from draftgate.engine import errors as engine_errors
from draftgate.suites import errors as suite_errors

OURS = [kind for module in (errors, engine_errors, suite_errors) for kind in vars(module).values()]
OURS = [kind for kind in OURS if isinstance(kind, type) and issubclass(kind, Exception)]


def observed(steps, at_once):
    begun, found = [], {}
    workers.observe(steps, at_once, begin=begun.append, take=found.__setitem__)
    return begun, found


def raising(error):
    def compute():
        raise error

    return compute


def slow():
    time.sleep(60)


def lost():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_each_is_made_once_and_begun_in_order(at_once, tmp_path):
    def compute(number):
        with (tmp_path / str(number)).open("a") as file:
            file.write("made\n")
        return {"squares": list(range(number))}

    begun, found = observed({f"n{n}": lambda n=n: compute(n) for n in range(5)}, at_once)

    assert [f"n{n}" for n in range(5)] == begun
    assert {f"n{n}": {"squares": list(range(n))} for n in range(5)} == {k: made.data for k, made in found.items()}
    assert ["made\n"] * 5 == [file.read_text() for file in tmp_path.iterdir()]


def test_two_run_beside_each_other_and_each_is_timed_on_its_own():
    started = time.perf_counter()
    _, found = observed({name: lambda: time.sleep(0.5) for name in "ab"}, 2)

    assert time.perf_counter() - started < 0.95
    assert all(0.5 <= made.seconds < 0.9 for made in found.values())


def test_no_more_run_at_once_than_was_said(tmp_path):
    def compute():
        mark = tmp_path / str(os.getpid())
        mark.touch()
        time.sleep(0.05)
        seen = len(list(tmp_path.iterdir()))
        mark.unlink()
        return seen

    _, found = observed({str(n): compute for n in range(8)}, 2)

    assert 2 == max(made.data for made in found.values())


def test_a_large_answer_does_not_stop_its_sender():
    _, found = observed({"a": lambda: "x" * 10**7, "b": lambda: 1}, 2)

    assert (10**7, 1) == (len(found["a"].data), found["b"].data)


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_an_error_of_ours_comes_back_as_it_was(kind):
    with pytest.raises(kind) as caught:
        observed({"a": raising(kind("what, which, what to do")), "b": slow}, 2)

    assert "what, which, what to do" == str(caught.value)
    assert not multiprocessing.active_children()


def test_a_bug_in_a_worker_says_where_it_was():
    with pytest.raises(ZeroDivisionError) as caught:
        observed({"a": lambda: 1 // 0, "b": slow}, 2)

    assert "test_workers.py" in caught.value.__notes__[0]


def test_what_was_finished_before_an_error_was_taken():
    found = {}
    with pytest.raises(UsageError):
        workers.observe(
            {"a": lambda: 1, "b": slow, "c": raising(UsageError("no"))},
            2,
            begin=lambda _: None,
            take=found.__setitem__,
        )

    assert ["a"] == list(found)


def test_a_worker_that_is_killed_is_told_in_one_line_and_not_replaced(tmp_path):
    def once():
        (tmp_path / "begun").open("a").write("x")
        lost()

    with pytest.raises(WorkerLost, match=r"observed a ended without an answer .*--resume") as caught:
        observed({"a": once, "b": slow}, 2)

    assert "\n" not in str(caught.value)
    assert 3 == caught.value.exit_status
    assert "x" == (tmp_path / "begun").read_text()
    assert not multiprocessing.active_children()


def test_an_interrupt_ends_the_workers_and_keeps_what_they_had_answered():
    found = {}

    def take(key, made):
        found[key] = made.data
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.observe({"a": lambda: 1, "b": slow}, 2, begin=lambda _: None, take=take)

    assert {"a": 1} == found
    assert not multiprocessing.active_children()


def test_workers_leave_ctrl_c_to_the_one_who_started_them():
    def interrupted():
        os.kill(os.getpid(), signal.SIGINT)
        return "went on"

    _, found = observed({"a": interrupted, "b": lambda: 1}, 2)

    assert "went on" == found["a"].data


ALONE = """
import fcntl, os, sys, time
from pathlib import Path
from draftgate.canaries import workers
folder = Path(sys.argv[1])
record = (folder / "record").open("w")
fcntl.flock(record, fcntl.LOCK_EX)
def compute():
    (folder / str(os.getpid())).touch()
    time.sleep(60)
workers.observe({name: compute for name in "abc"}, 3, begin=lambda _: None, take=lambda *_: None)
"""


def test_workers_end_with_a_parent_that_is_killed_and_let_go_of_its_record(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", ALONE, str(tmp_path)])
    until(lambda: len(list(tmp_path.iterdir())) == 4)
    parent.kill()
    parent.wait()

    with (tmp_path / "record").open() as record:
        until(lambda: not locked(record))


def locked(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def until(holds, seconds=20):
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_several_threads_or_another_system_are_not_forked(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert 3 == workers.at_once()

    monkeypatch.setattr(sys, "platform", "darwin")
    assert 1 == workers.at_once()

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert 1 == workers.at_once()
