"""Progress is for people at a terminal; nobody else sees a byte of it."""

from __future__ import annotations

import sys
import threading

from draftgate.canaries.report.progress import Bar, Silent, progress


def drive(shown):
    shown.total(2)
    shown.step("greedy-1/\x1b[2Jpairs")
    shown.step("[bold]next[/]")
    shown.close()


def test_nothing_is_written_where_standard_error_is_no_terminal(capsys):
    shown = progress()
    drive(shown)

    assert isinstance(shown, Silent)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_on_standard_error_only(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    shown = progress()
    drive(shown)

    assert isinstance(shown, Bar)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\x1b[2J" not in err


def test_a_step_is_counted_when_the_next_one_begins():
    shown = Bar()
    shown.total(3)
    done = []
    for name in ("a", "b", "c"):
        shown.step(name)
        done.append(shown._rich.tasks[0].completed)
    shown.close()

    assert done == [0, 1, 2]


def test_a_bar_has_no_thread_that_would_take_turns_from_what_is_timed():
    before = threading.active_count()
    shown = Bar()
    shown.step("a")
    during = threading.active_count()
    shown.close()

    assert before == during
