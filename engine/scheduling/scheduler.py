"""Continuous batches: requests come and go at any step, and each has the answer that it would have alone.

A step: who has come is admitted where it fits, prompts are fed in chunks, and all rows that are fed have one round
together. Where memory gets tight the row that came last is preempted: its blocks are freed, and it is fed again, with
all that it has said, when there is room. None of this shows in an answer: a row's chance counts its own rounds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..decoding.prefill import refuse
from ..errors import EngineError
from ..models.base import Block
from ..request import Generation
from ..sampling import next_token_probs
from .admission import Queue
from .bypass import Kept, Policy
from .job import Job, Limits
from .memory import Memory
from .records import Log, Served, StepRecord
from .rounds import Rounds
from .row import Row


class Scheduler:
    """Serves jobs by `rounds` (a `Speculation`, or a `Stepping` for plain decoding) within `memory` and `limits`.

    `policy` says at each step how much is drafted.
    """

    def __init__(self, rounds: Rounds, memory: Memory, limits: Limits, policy: Policy) -> None:
        self.rounds, self.memory, self.limits, self.policy = rounds, memory, limits, policy
        self.now = 0
        self.queue = Queue()
        self.filling: list[Row] = []
        self.running: list[Row] = []  # in the order of the drafter's rows
        self.ended: dict[str, Row] = {}
        self._log = Log()
        rounds.begin()

    def submit(self, job: Job) -> None:
        """The job is served from the step at which it arrives. Raises EngineError where it cannot be."""
        self.refuse(job)
        self.queue.submit(job, self.now)
        self._arrive()

    def refuse(self, job: Job) -> None:
        """Raises EngineError for a job that cannot be served, or not beside those that were submitted."""
        request = job.request
        refuse(self.rounds.model, request)
        if request.name in {*self.queue.names, *(row.name for row in self.under_way), *self.ended}:
            raise EngineError(f"two requests are named {request.name}; give each a name of its own")
        if job.draft_length is not None and job.draft_length > self.rounds.length:
            raise EngineError(
                f"request {request.name} asks for drafts of {job.draft_length} tokens, and the drafter gives "
                f"{self.rounds.length} at most; ask for no more"
            )
        self.memory.refuse(request, self.rounds.nodes)

    def cancel(self, name: str) -> None:
        """Its client has gone: a round that is under way is finished, then the request is dropped.

        Raises EngineError for a name that is neither waiting nor under way.
        """
        for row in (*self.queue.waiting, *self.under_way):
            if row.name == name:
                row.cancelled = True
                return
        raise EngineError(f"no request named {name} is being served; there is nothing to cancel")

    def serve(self, jobs: Sequence[Job]) -> Served:
        """All answers. Raises EngineError where one of the jobs cannot be served, and then none was begun."""
        steps: list[StepRecord] = []
        self.memory.count_anew()
        try:
            for job in jobs:
                self.submit(job)
            while self.busy:
                steps.append(self.step())
        except BaseException:
            self.abandon()
            raise
        return Served(
            generations=[self.take(job.request.name) for job in jobs],
            steps=steps,
            peak=self.memory.peak,
            left=self.memory.used,
        )

    def take(self, name: str) -> Generation:
        """The answer of a request that has ended; its name may be used again."""
        return self.ended.pop(name).answer.generation()

    def abandon(self) -> None:
        """All requests are dropped, and nothing is held any more but prefixes."""
        for row in self.under_way:
            self.memory.abandon(row)
        self.filling, self.running, self.ended, self.queue = [], [], {}, Queue()
        self.rounds.begin()

    @property
    def busy(self) -> bool:
        """Whether anything is left to do."""
        return bool(self.queue.coming or self.queue.waiting or self.filling or self.running)

    @property
    def under_way(self) -> list[Row]:
        """Rows that hold blocks."""
        return [*self.filling, *self.running]

    def step(self) -> StepRecord:
        """What is to be done between two rounds, and one round. Where nobody is there, the next one comes at once."""
        self._log = Log()
        if not self.queue.waiting and not self.under_way:
            self.now = max(self.now, self.queue.next_arrival)
        self._arrive()
        self._drop()
        self._make_room()
        self._admit()
        self._depart()
        self._fill()
        self._round()
        self._drop()
        self.now += 1
        return self._log.closed(self.now - 1, len(self.queue.waiting), self.memory.used)

    def preempt(self, row: Row) -> None:
        """The row's blocks are freed, and it waits; what it has said it goes on from."""
        self.memory.close(row)
        self._leave([row])
        self.queue.wait(row)
        self._log.preempted.append(row.name)

    def _arrive(self) -> None:
        for place, job in self.queue.arrived(self.now):
            self.queue.wait(Row(job, place, self.rounds.opened(job.request, time.perf_counter())))

    def _depart(self) -> None:
        """Clients go away while the step is under way."""
        for row in (*self.queue.waiting, *self.under_way):
            row.cancelled |= row.job.cancels == self.now

    def _make_room(self) -> None:
        """Every row that is under way has the blocks for this step: where there are too few, the last one goes."""
        while not self.memory.fits(self.under_way, self.rounds.nodes):
            self.preempt(max(self.under_way, key=lambda row: row.place))

    def _admit(self) -> None:
        """Whoever waits comes in, in order, until one does not fit."""
        while self.queue.waiting and len(self.under_way) < self.limits.batch:
            row = self.queue.waiting[0]
            if not self._opened(row):
                return
            self.filling.append(self.queue.waiting.pop(0))
            self._log.admitted.append(row.name)
            self._log.cached.append(row.cached)

    def _opened(self, row: Row) -> bool:
        """Whether the row fits beside those that are under way; if so, it holds what it begins from."""
        self.memory.open(row)
        if self.memory.fits([*self.under_way, row], self.rounds.nodes):
            return True
        self.memory.abandon(row)
        if self.under_way:
            return False
        self.memory.open_empty(row)  # a prefix used in part is locked and copied: a block more than it was let in for
        return self.memory.fits([row], self.rounds.nodes)

    def _fill(self) -> None:
        """Each row that is not fed yet gets a chunk; those that are fed then take part in rounds."""
        for rows in self._chunks():
            self._feed(*rows)
        fed = [row for row in self.filling if not row.missing]
        for row in fed:
            self.memory.keep(row)
        self.filling = [row for row in self.filling if row not in fed]
        self.running += fed
        self.rounds.join(len(fed))

    def _chunks(self) -> list[tuple[int, list[Row]]]:
        """Who is fed how many tokens: those who get equally many together, so that nothing is padded."""
        left, passes = self.limits.tokens, dict[int, list[Row]]()
        for row in sorted(self.filling, key=lambda row: row.place):
            size = min(len(row.missing), self.limits.chunk, left)
            left -= size
            if size:
                passes.setdefault(size, []).append(row)
        return list(passes.items())

    def _feed(self, size: int, rows: Sequence[Row]) -> None:
        """The next `size` tokens of each row; those that had no token before and are fed now get their first."""
        cache = self.memory.cache(rows)
        logits = self.rounds.model.score_last(Block.chains([row.missing[:size] for row in rows]), cache)
        cache.commit([list(range(1, size))] * len(rows))
        self._log.filled += size * len(rows)
        new = [number for number, row in enumerate(rows) if not row.missing and not row.answer.tokens]
        if new:
            answers = [rows[number].answer for number in new]
            probs = next_token_probs(logits[new][:, None], [answer.request.sampling for answer in answers])
            self.rounds.first(answers, probs[:, 0])

    def _round(self) -> None:
        """One round of all rows that are fed and not at their end."""
        self._retire()
        if not self.running:
            return
        answers = [row.answer for row in self.running]
        lengths = self._lengths()
        self.rounds.round(answers, self.memory.cache(self.running), lengths)
        self._log.rows, self._log.length = len(answers), max(lengths)
        self.policy.observe([_kept(row) for row in self.running])
        self._retire()

    def _lengths(self) -> list[int]:
        """How much is drafted for each row: what the policy says, and the drafter, and the request."""
        length = min(self.policy.length(len(self.running)), self.rounds.length)
        limits = self.policy.limits([row.name for row in self.running], length) if length else [0] * len(self.running)
        return [min(limit, row.draft_length(length)) for limit, row in zip(limits, self.running, strict=True)]

    def _retire(self) -> None:
        """Rows whose answers have ended leave; what they committed is kept as prefixes."""
        done = [row for row in self.running if row.answer.finish is not None]
        for row in done:
            self.memory.close(row)
            self.ended[row.name] = row
            self._log.finished.append(row.name)
        self._leave(done)

    def _drop(self) -> None:
        """Rows whose clients have gone leave, wherever they are."""
        gone = [row for row in (*self.queue.waiting, *self.under_way) if row.cancelled]
        for row in gone:
            row.answer.finish = "cancelled"
            if row.sequence is not None:
                self.memory.close(row)
            self.ended[row.name] = row
            self._log.cancelled.append(row.name)
        self._leave(gone)

    def _leave(self, gone: Sequence[Row]) -> None:
        """These rows are nowhere any more."""
        if not gone:
            return
        stay = [number for number, row in enumerate(self.running) if row not in gone]
        if len(stay) < len(self.running):
            self.rounds.select(stay)
            self.running = [self.running[number] for number in stay]
        self.filling = [row for row in self.filling if row not in gone]
        self.queue.waiting = [row for row in self.queue.waiting if row not in gone]


def _kept(row: Row) -> Kept:
    """What was drafted for the row in the round that is over, and kept."""
    drafted, accepted = row.answer.rounds[-1][:2] if row.answer.rounds else (0, 0)
    return Kept(row.name, drafted, accepted)
