"""Schedulers on table models, the decoders that they are held against, and what they must agree in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.radix import RadixTree
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.round import Speculation
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.decoding.stepping import Stepping
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.drafters.ngram import NGram
from draftgate.engine.drafters.synthetic import Adversary, OddEven, Oracle, Uniform
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request, Sampling
from draftgate.engine.scheduling.bypass import Always
from draftgate.engine.scheduling.job import Job, Limits
from draftgate.engine.scheduling.memory import Memory
from draftgate.engine.scheduling.scheduler import Scheduler

VOCABULARY, K, SIZE = 6, 3, 4
ARMS = ("plain", "draft", "self", "ngram", "uniform", "oracle", "odd-even", "adversary")
KNOWN = {f"r{n}": (1, 2, 3, 4, 5, 0) * 8 for n in range(64)}
SAMPLINGS = (
    Sampling(),
    Sampling(temperature=1.0),
    Sampling(temperature=0.7, top_k=3),
    Sampling(temperature=1.3, top_p=0.9),
)


def table(seed):
    return TableModel(peaked_table(VOCABULARY, 3, np.random.default_rng(seed)))


MODEL, DRAFT = table(0), table(5)


def drafter(arm, k, new_cache):
    return {
        "draft": lambda: DraftModel(DRAFT, k, new_cache),
        "self": lambda: DraftModel(MODEL, k, new_cache),
        "ngram": lambda: NGram(VOCABULARY, k, shortest=1),
        "uniform": lambda: Uniform(VOCABULARY, k),
        "oracle": lambda: Oracle(VOCABULARY, k, KNOWN),
        "odd-even": lambda: OddEven(VOCABULARY, k, KNOWN),
        "adversary": lambda: Adversary(VOCABULARY, k, KNOWN),
    }[arm]()


class Plan(SimpleNamespace):
    """How a scheduler is built, with what is tried most as it stands."""

    arm, blocks, batch, chunk, tokens, budget = "draft", 200, 6, 7, 100, None
    policy, scheduler, memory, speculation = Always(K), Scheduler, Memory, Speculation
    verifier = None

    def built(self):
        """A scheduler on pools of its own; those of a drafter with a cache are as large as the target's."""
        pool, draft = BlockPool(self.blocks, SIZE), BlockPool(self.blocks, SIZE)
        cached = self.arm in ("draft", "self")
        prefixes = RadixTree(pool, budget=self.blocks if self.budget is None else self.budget)
        memory = self.memory(pool, draft=draft if cached else None, prefixes=prefixes)
        limits = Limits(batch=self.batch, chunk=self.chunk, tokens=self.tokens)
        return self.scheduler(self.rounds(PagedCache.factory(draft)), memory, limits, self.policy)

    def rounds(self, new_cache):
        if self.arm == "plain":
            return Stepping(model=MODEL)
        parts = {"verifier": self.verifier} if self.verifier else {}
        return self.speculation(model=MODEL, drafter=drafter(self.arm, K, new_cache), **parts)

    def alone(self, job):
        """The request's answer from a decoder that knows of no other."""
        if self.arm == "plain":
            return PlainDecoder(model=MODEL).generate([job.request])[0]
        k = K if job.draft_length is None else job.draft_length
        decoder = SpeculativeDecoder(model=MODEL, drafter=drafter(self.arm, k, ContiguousCache))
        return decoder.generate([job.request])[0]


def job(number, prompt=(0, 1, 0, 2), max_tokens=8, **more):
    """A request with its own seed and one of four ways to sample."""
    asked = {key: more.pop(key) for key in ("eos", "stop", "sampling", "seed") if key in more}
    asked = {"seed": number, "sampling": SAMPLINGS[number % 4]} | asked
    request = Request(name=f"r{number}", prompt=tuple(map(int, prompt)), max_tokens=max_tokens, **asked)
    return Job(request=request, **more)


def jobs(count=16, seed=1, latest=10):
    """Requests of mixed lengths that come at mixed times."""
    rng = np.random.default_rng(seed)
    return [
        job(
            number,
            rng.integers(0, VOCABULARY, rng.integers(1, 24)),
            int(rng.integers(1, 20)),
            arrives=int(rng.integers(0, latest + 1)),
        )
        for number in range(count)
    ]


def essence(generations):
    return [(g.name, g.tokens, g.text, g.finish, g.prefill, g.rounds) for g in generations]


def nothing_leaks(scheduler):
    """What is in use is what is kept as prefixes, and nothing once that is forgotten."""
    memory = scheduler.memory
    assert memory.used.target == memory.prefixes.held
    assert memory.used.draft == 0
    memory.prefixes.clear()
    assert (0, 0, 0) == memory.used


@pytest.fixture(scope="session")
def world():
    """The pieces of this file."""
    return SimpleNamespace(
        Plan=Plan, job=job, jobs=jobs, essence=essence, nothing_leaks=nothing_leaks, model=MODEL, k=K, size=SIZE
    )
