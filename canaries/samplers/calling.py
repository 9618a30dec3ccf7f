"""Calls a sampler, and makes one clear line of whatever it does to us: raise, hang, write to inputs, answer badly.

Python code that hangs is interrupted by a timer signal, on the main thread only and where the system has such timers;
a kernel that never comes back to Python is not.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch import Generator, Tensor

from ..errors import ContractBroken, SamplerFailed
from .interface import Inputs, Sampler, checked_tokens


class TimeIsUp(BaseException):
    """Raised inside a call that takes too long; no Exception, so that the sampler's own handlers let it through."""


class Caller:
    """One sampler under contract: answers of `steps` tokens, at most `seconds` a call."""

    def __init__(self, sampler: Sampler, steps: int, *, seconds: float) -> None:
        self.sampler, self.steps, self.seconds = sampler, steps, seconds

    def __call__(self, inputs: Inputs, generator: Generator) -> Tensor:
        """The sampler's answer as int64 (B, K + 1). Raises ContractBroken or SamplerFailed."""
        versions = inputs.versions()
        answer = self.guarded(self.sampler, *inputs, generator)
        if inputs.versions() != versions:
            raise ContractBroken(f"the sampler wrote to {_written(inputs, versions)}; it must leave its inputs alone")
        rows, _, vocabulary = inputs.target_probs.shape
        return checked_tokens(answer, (rows, self.steps), vocabulary)

    def guarded(self, call: Any, *arguments: Any) -> Any:
        """What `call(*arguments)` returns; SamplerFailed in one line where it raises or does not return in time."""
        try:
            with time_limit(self.seconds):
                return call(*arguments)
        except TimeIsUp:
            shapes = ", ".join(str(tuple(x.shape)) for x in arguments if isinstance(x, Tensor))
            raise SamplerFailed(
                f"the sampler did not return within {self.seconds:g} s on inputs of shapes {shapes}; "
                "mend the loop, or give a larger --limit"
            ) from None
        except (Exception, SystemExit) as error:  # an exit of its own must not look like a verdict of ours
            raise SamplerFailed(_raised(error)) from error

    def first(self, inputs: Inputs, generator: Generator) -> Tensor:
        """The answer of the first call; every number of the inputs is compared, not only torch's counts of writes."""
        kept, chance = inputs.copied(), torch.get_rng_state()
        answer = self(inputs, generator)
        for name, before, after in zip(Inputs._fields, kept, inputs, strict=True):
            if before is not None and after is not None and not torch.equal(before, after):
                raise ContractBroken(f"the sampler wrote to {name}; it must leave its inputs alone")
        if not torch.equal(chance, torch.get_rng_state()):
            raise ContractBroken("the sampler draws from torch's global generator; draw from the one it is given")
        return answer


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """The body is interrupted by TimeIsUp after `seconds`; without limit off the main thread or without such timers."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise TimeIsUp


def _written(inputs: Inputs, versions: tuple[int, ...]) -> str:
    names = [name for name, x in zip(Inputs._fields, inputs, strict=True) if x is not None]
    return ", ".join(n for n, a, b in zip(names, versions, inputs.versions(), strict=True) if a != b)


def _raised(error: BaseException) -> str:
    """What was raised, and where in the sampler's own code, in one line."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
    text = " ".join(str(error).split())
    return f"the sampler raised {type(error).__name__}: {text[:300]}{where}"
