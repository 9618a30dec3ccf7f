"""What keeps the gate from judging. A failed check is a value; an exception here means "could not check".

    GateError                 exit status
    ├── UsageError            2   command line, configuration
    │   └── ExistingRun       2   something is already recorded there
    ├── NotPublishable        1   judged, and the judgement does not allow it
    ├── ContractBroken        1   a sampler answered what no sampler may answer
    └── CannotJudge           3
        ├── RecordBroken      3   unreadable, edited, or of a newer schema
        ├── TargetUnavailable 3   an arm cannot be reached
        ├── BrokenAnswer      3   an arm answered what no server may answer: recorded, as a finding about it
        ├── SamplerFailed     3   a sampler raised, or did not return in time
        ├── WorkerLost        3   a process that observed was killed; what was observed is kept
        ├── OutputUnwritable  3   the run folder cannot be written
        └── Interrupted       3   stopped by Ctrl-C; what was observed is kept

Every message is one line: what, which value, what to do.
"""

from __future__ import annotations

from typing import ClassVar


class GateError(Exception):
    """Base of all; `exit_status` is what the command line returns."""

    exit_status: ClassVar[int] = 3


class UsageError(GateError):
    """The command line or the configuration asks for something that cannot be done."""

    exit_status = 2


class ExistingRun(UsageError):
    """Something is already recorded where a new record should go."""


class NotPublishable(GateError):
    """The run was judged, and its verdict does not allow what was asked."""

    exit_status = 1


class ContractBroken(GateError):
    """A sampler's answer has a wrong shape, type or id, or the sampler wrote to its inputs: a HOLD, not a crash."""

    exit_status = 1


class CannotJudge(GateError):
    """No verdict can be reached; says nothing about the engine."""


class RecordBroken(CannotJudge):
    """A record or a summary is unreadable, edited, or newer than this version reads."""


class TargetUnavailable(CannotJudge):
    """An arm cannot be reached or lacks what the suite needs.

    `lost` names the arm that was there and is gone, or that took a request and gave no answer; `relaunches` is how
    often it may be launched anew in one run.
    """

    lost: str | None = None
    relaunches: int = 0


class BrokenAnswer(CannotJudge):
    """An arm took a request and answered what no engine may answer. `role` says which arm."""

    def __init__(self, told: str, role: str = "") -> None:
        super().__init__(told, role)  # both, so that it comes whole out of another process
        self.role = role

    def __str__(self) -> str:
        return str(self.args[0])


class SamplerFailed(CannotJudge):
    """A sampler raised on inputs that it must take, or did not return in time: nothing was shown about its law."""


class WorkerLost(CannotJudge):
    """A process that made an observation was killed from outside before it answered."""


class OutputUnwritable(CannotJudge):
    """The folder the run should be written to cannot be written."""


class Interrupted(CannotJudge):
    """Somebody stopped the run; the message says how to go on."""
