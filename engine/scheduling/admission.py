"""Who waits, and who is next: first come, first served.

Nobody is overtaken. Whoever does not fit holds up all behind it, however small they are; a row that was preempted
waits at the place it came at. With the rule that of the rows under way the one that came last is preempted first, the
row that came first is never preempted and every row becomes that one: nobody starves.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from .job import Job
from .row import Place, Row


class Queue:
    """Jobs that have not arrived yet, and rows that wait, each in order of coming."""

    def __init__(self) -> None:
        self.coming: list[tuple[Place, Job]] = []
        self.waiting: list[Row] = []
        self._submitted = 0

    def submit(self, job: Job, now: int) -> None:
        """It arrives at its step, or now where that is over."""
        place = Place(max(job.arrives, now), self._submitted)
        self._submitted += 1
        bisect.insort(self.coming, (place, job), key=lambda entry: entry[0])

    def arrived(self, now: int) -> Iterator[tuple[Place, Job]]:
        """Those that have come by now, in order; they are no longer coming."""
        while self.coming and self.coming[0][0].arrives <= now:
            yield self.coming.pop(0)

    def wait(self, row: Row) -> None:
        """The row waits at the place it came at."""
        bisect.insort(self.waiting, row, key=lambda other: other.place)

    @property
    def names(self) -> list[str]:
        """Of all that are here."""
        return [*(job.request.name for _, job in self.coming), *(row.name for row in self.waiting)]

    @property
    def next_arrival(self) -> int:
        """The step of the next one to come; 0 where nobody is."""
        return self.coming[0][0].arrives if self.coming else 0
