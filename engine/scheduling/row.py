"""A request on its way: its answer so far, and what it holds of the target's cache."""

from __future__ import annotations

from typing import NamedTuple

from ..cache.radix import Match
from ..cache.sequence import Sequence
from ..decoding.answer import Answer
from .job import Job


class Place(NamedTuple):
    """When a request came: the step, and how many had been submitted before it. Who came first has the lesser."""

    arrives: int
    number: int


class Row:
    """One job that has arrived. It waits while it has no `sequence`; `match` is the prefix that it began from."""

    def __init__(self, job: Job, place: Place, answer: Answer) -> None:
        self.job = job
        self.place = place
        self.answer = answer  # kept when the row is preempted, and so are its rounds: its chance goes on
        self.sequence: Sequence | None = None
        self.match: Match | None = None
        self.cancelled = False

    @property
    def name(self) -> str:
        """The request's name."""
        return self.job.request.name

    @property
    def held(self) -> Sequence:
        """Its sequence, of a row that is under way."""
        assert self.sequence is not None, f"row {self.name} holds nothing"
        return self.sequence

    def draft_length(self, length: int) -> int:
        """Of so many tokens those that may be drafted for it."""
        own = self.job.draft_length
        return length if own is None else min(length, own)

    @property
    def cached(self) -> int:
        """How many tokens it began with that were kept as a prefix."""
        return 0 if self.match is None else self.match.length

    @property
    def fed(self) -> list[int]:
        """What the target's cache holds before a round: all but the newest token; before the first, the prompt."""
        context = self.answer.context
        return context[:-1] if self.answer.tokens else context

    @property
    def missing(self) -> list[int]:
        """What of it the cache does not hold yet."""
        return self.fed[self.sequence.length if self.sequence else 0 :]
