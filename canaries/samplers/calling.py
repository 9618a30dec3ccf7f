"""Calls a sampler, and makes one clear line of whatever it does to us: raise, hang, write to inputs, answer badly.

Python code that hangs is interrupted by a timer signal, on the main thread only and where the system has such timers;
code that swallows the interruption ends with the program, in one line. A kernel that never comes back to Python does
not.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import torch
from torch import Generator, Tensor

from ..errors import ContractBroken, SamplerFailed
from .interface import Inputs, Sampler, checked_tokens

GRACE = 1.0
"""Seconds after which code that is still running, though it was interrupted, is taken to swallow every exception."""

LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
"""Where code lies that is nobody's own, and this package once it is installed."""


class TimeIsUp(BaseException):
    """Raised inside a call that takes too long; no Exception, so that the sampler's own handlers let it through."""


class CtrlC(KeyboardInterrupt):
    """Somebody's Ctrl-C while a sampler runs, told from a KeyboardInterrupt that the sampler itself raises."""


class Caller:
    """One sampler under contract: answers of `steps` tokens, at most `seconds` a call. `case` names the laws."""

    def __init__(self, sampler: Sampler, steps: int, *, seconds: float, case: str = "given") -> None:
        self.sampler, self.steps, self.seconds, self.case = sampler, steps, seconds, case

    def __call__(self, inputs: Inputs, generator: Generator, kept: Inputs | None = None) -> Tensor:
        """The sampler's answer as int64 (B, K + 1). Raises ContractBroken or SamplerFailed.

        Beside torch's counts of writes, every number is compared with `kept`, a copy, where there is one.
        """
        versions = inputs.versions()
        answer = self.guarded(self.sampler, *inputs, generator)
        if written := (kept and _changed(inputs, kept)) or _written(inputs, versions):
            raise ContractBroken(f"the sampler wrote to {written}; it must leave its inputs alone")
        rows, _, vocabulary = inputs.target_probs.shape
        return checked_tokens(answer, (rows, self.steps), vocabulary)

    def guarded(self, call: Any, *arguments: Any) -> Any:
        """What `call(*arguments)` returns; SamplerFailed in one line where it raises or does not return in time."""
        shapes = ", ".join(str(tuple(x.shape)) for x in arguments if isinstance(x, Tensor))
        late = f"the sampler did not return within {self.seconds:g} s on the {self.case} laws, of shapes {shapes}"
        try:
            with time_limit(self.seconds, late):
                return call(*arguments)
        except TimeIsUp:
            raise SamplerFailed(f"{late}; mend the loop, or give a larger --limit") from None
        except CtrlC:
            raise
        except BaseException as error:  # an exit of its own must not look like a verdict of ours
            raise SamplerFailed(f"{raised(error)}, on the {self.case} laws") from error

    def first(self, inputs: Inputs, generator: Generator) -> Tensor:
        """The answer of the first call, looked at more closely."""
        chance = torch.get_rng_state()
        answer = self(inputs, generator, inputs.copied())
        if not torch.equal(chance, torch.get_rng_state()):
            raise ContractBroken("the sampler draws from torch's global generator; draw from the one it is given")
        return answer


@contextmanager
def time_limit(seconds: float, late: str) -> Iterator[None]:
    """The body is interrupted by TimeIsUp after `seconds`; without limit off the main thread or without such timers.

    Where it goes on for GRACE seconds more, the program ends with what `late` says: nothing else can end it. A Ctrl-C
    is raised as CtrlC.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    alarms = 0

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal alarms
        alarms += 1
        if alarms > 1:
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "an unknown place"
            _end(f"{late}, and swallows the interruption at {place}; catch Exception instead of everything there")
        raise TimeIsUp

    stops = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    before = signal.signal(signal.SIGALRM, interrupt)
    if stops:
        signal.signal(signal.SIGINT, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if stops:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop(_: int, __: FrameType | None) -> NoReturn:
    raise CtrlC


def _end(line: str) -> NoReturn:
    """Ends the program as the command line ends where it could not judge: no exception would get through."""
    status = SamplerFailed.exit_status
    if "--json" in sys.argv and sys.__stdout__:
        sys.__stdout__.write(json.dumps({"error": line, "exit": status}, indent=1) + "\n")
        sys.__stdout__.flush()
    if sys.__stderr__:
        sys.__stderr__.write(f"draftgate: {line}\n")
        sys.__stderr__.flush()
    os._exit(status)


def _changed(inputs: Inputs, kept: Inputs) -> str:
    """The first number that is not what it was; nothing where all are."""
    for name, x, before in zip(Inputs._fields, inputs, kept, strict=True):
        if x is not None and before is not None and (different := x != before).any():
            at = tuple(different.nonzero()[0].tolist())
            return f"{name}: {list(at)} was {before[at].item():.4g} and is {x[at].item():.4g}"
    return ""


def _written(inputs: Inputs, versions: tuple[int, ...]) -> str:
    names = [name for name, x in zip(Inputs._fields, inputs, strict=True) if x is not None]
    return ", ".join(n for n, a, b in zip(names, versions, inputs.versions(), strict=True) if a != b)


def raised(error: BaseException) -> str:
    """What was raised, and the innermost place that is in no library, in one line."""
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    own = [place for place in places if not place.startswith(LIBRARIES)] or places
    text = " ".join(str(error).split())
    return f"the sampler raised {type(error).__name__}: {text[:300]}{f' at {own[-1]}' if own else ''}"
