"""Under which load an arm is asked, and what a session of it must be able to do. The numbers come from a suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ..engine.scheduling.job import Job
from ..engine.scheduling.records import Served


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a session is opened with.

    batch, chunk
        The most rows at once, and the most prompt tokens that one takes in a pass.
    block, blocks
        Tokens of a block, and blocks of the pool.
    bypass
        Steps with speculation, and then as many without; 0: always with.
    """

    batch: int
    chunk: int
    block: int
    blocks: int
    bypass: int = 0


class Difference(NamedTuple):
    """One row's cache beside a prefill of what is committed: entries too many or too few, largest differences."""

    name: str
    missing: int
    keys: float
    values: float


class Session(Protocol):
    """An engine that goes on serving: its pool, its prefixes and its drafter outlive a call."""

    def serve(self, jobs: Sequence[Job], look: Callable[[], object] | None = None) -> Served:
        """What became of these jobs, whose steps are counted from the call on; `look` is called after every step."""

    def differences(self) -> list[Difference]:
        """Of every row that is running now."""
