"""Ends our own code where what it works on would keep it too long: a schema, or a pattern, that one answer makes grow.

By a timer of processor time, so that a busy machine ends nothing else. Signals reach the main thread only, where
judging is done: off it nothing is ended.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

AGAIN = 0.1  # seconds after which code that goes on in spite of it is interrupted once more


class TimeIsUp(BaseException):
    """Raised in the body that takes too long; no Exception, so that no handler on the way takes it for its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """The body has so many seconds of processor time. Raises TimeIsUp."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    raise TimeIsUp
