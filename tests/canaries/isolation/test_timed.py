"""What takes too long is ended, whatever it is in the middle of; what does not is left alone."""

import re
import signal
import threading
import time

import pytest

from draftgate.canaries.isolation.timed import TimeIsUp, limited

LIMIT = 0.05


def loops():
    while True:
        pass


def goes_back_and_forth():
    re.search("^(a+)+$", "a" * 64 + "b")


def swallows():
    while True:
        try:
            loops()
        except BaseException:
            if swallowed := globals().setdefault("SWALLOWED", []):
                raise
            swallowed.append(1)


@pytest.mark.parametrize("body", [loops, goes_back_and_forth, swallows])
def test_what_takes_too_long_is_ended(body):
    with pytest.raises(TimeIsUp), limited(LIMIT):
        body()


def test_what_waits_takes_no_processor_time():
    with limited(LIMIT):
        time.sleep(4 * LIMIT)


@pytest.mark.parametrize("body", [loops, int])
def test_nothing_is_left_behind(body):
    before = signal.getsignal(signal.SIGVTALRM)
    try:
        with limited(LIMIT):
            body()
    except TimeIsUp:
        pass

    assert (before, (0.0, 0.0)) == (signal.getsignal(signal.SIGVTALRM), signal.getitimer(signal.ITIMER_VIRTUAL))


def test_off_the_main_thread_nothing_is_ended():
    done = []

    def body():
        with limited(LIMIT):
            done.append(sum(range(10_000)))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()

    assert [sum(range(10_000))] == done
