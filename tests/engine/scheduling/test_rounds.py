"""Rounds of every kind at the seam where speculation is switched off and on, and on a real model."""

from __future__ import annotations

from dataclasses import replace

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
from draftgate.engine.models.base import Block
from draftgate.engine.request import Request, Sampling
from draftgate.engine.scheduling.bypass import Always, Never
from draftgate.engine.scheduling.job import Job, Limits
from draftgate.engine.scheduling.memory import Memory
from draftgate.engine.scheduling.scheduler import Scheduler
from tolerances import NEAR_TIE

ORDERS = (
    "Copy this text: bade mikasonu tave lipo",
    "As JSON: name=kosi, age=41, city=tulane.",
    "Count from 7 to 19.",
    "Repeat exactly: zome",
    "Give a JSON object: size=7.",
    "Say again, word for word: fifo dadudi be k7xq20",
)


class Switches(Always):
    """Drafts for `on` steps, then for as many steps nothing, and so on."""

    def __init__(self, k, on):
        super().__init__(k)
        self.on, self.steps, self.seen = on, 0, []

    def length(self, batch):
        self.steps += 1
        return self.k if self.steps // self.on % 2 == 0 else 0

    def observe(self, rounds):
        self.seen += rounds


class Scripted(DraftModel):
    """Drafts as much in a row's n-th round as the script says."""

    def __init__(self, model, script):
        super().__init__(model, max(script))
        self.script = script

    def draft(self, situation):
        rows = zip(situation.limits, situation.rounds, strict=True)
        limits = [min(limit, self.script[turn]) for limit, turn in rows]
        return super().draft(replace(situation, limits=limits))


@pytest.mark.parametrize("arm", ["draft", "self", "ngram", "adversary"])
@pytest.mark.parametrize("on", [1, 2, 5])
def test_switching_speculation_off_and_on_changes_no_greedy_token(arm, on, world):
    greedy = Sampling()
    jobs = [world.job(n, range(1 + n % 5), 18, arrives=n, sampling=greedy) for n in range(10)]
    plan = world.Plan(arm=arm, blocks=40, policy=Switches(3, on))
    scheduler = plan.built()
    seen = [(g.tokens, g.finish) for g in scheduler.serve(jobs).generations]
    plainly = [world.Plan(arm="plain").alone(job) for job in jobs]

    assert [(g.tokens, g.finish) for g in plainly] == seen
    assert {0, 3} <= {kept.drafted for kept in plan.policy.seen}
    world.nothing_leaks(scheduler)


def test_a_sampled_answer_is_that_of_a_decoder_that_switches_at_the_same_rounds(world):
    """So each round is the decoder's own at that length: chance, caches and all."""
    jobs = [world.job(n, range(1 + n % 5), 18) for n in range(8)]
    served = world.Plan(batch=8, policy=Switches(3, 2), chunk=50, tokens=1000).built().serve(jobs)
    for job, seen in zip(jobs, served.generations, strict=True):
        script = [3 if (turn + 1) // 2 % 2 == 0 else 0 for turn in range(40)]
        draft = world.Plan().rounds(ContiguousCache).drafter.model
        decoder = SpeculativeDecoder(model=world.model, drafter=Scripted(draft, script))
        assert world.essence(decoder.generate([job.request])) == world.essence([seen])


def test_a_policy_that_never_drafts_and_one_that_always_does_differ_in_rounds_only(world):
    greedy = Sampling()
    jobs = [world.job(n, range(1 + n), 12, sampling=greedy) for n in range(5)]
    never = world.Plan(policy=Never(), arm="self").built().serve(jobs)
    always = world.Plan(arm="self").built().serve(jobs)

    assert [g.tokens for g in never.generations] == [g.tokens for g in always.generations]
    assert {0} == {r.drafted for g in never.generations for r in g.rounds}
    assert len(never.steps) > len(always.steps)


@pytest.fixture(scope="module")
def asked(target):
    return [
        Job(
            request=Request(
                name=f"r{row}",
                prompt=target.encode([{"role": "user", "content": order}]),
                max_tokens=(24, 17, 9, 20, 24, 2)[row],
                eos=target.eos,
            ),
            arrives=row,
        )
        for row, order in enumerate(ORDERS)
    ]


@pytest.fixture(scope="module")
def plainly(target, asked):
    return PlainDecoder(model=target).generate([job.request for job in asked])


def near_tie(target, job, tokens):
    """Whether the token behind these is decided by less than two float32 programs of one model differ by."""
    logits = np.sort(target.score_last(Block.chains([[*job.request.prompt, *tokens]]), ContiguousCache(1))[0])
    return logits[-1] - logits[-2] < NEAR_TIE


@pytest.mark.parametrize("kind", ["plain", "draft", "ngram"])
@pytest.mark.parametrize("blocks", [480, 18], ids=["roomy", "tight"])
def test_a_real_models_greedy_answers_are_those_of_plain_decoding(kind, blocks, target, draft, asked, plainly):
    """Up to near ties; blocks of four tokens, arrivals at every step, chunks of seven tokens."""
    pool, draft_pool = BlockPool(blocks, 4), BlockPool(blocks, 4)
    rounds = {
        "plain": lambda: Stepping(model=target),
        "draft": lambda: Speculation(model=target, drafter=DraftModel(draft, 4, PagedCache.factory(draft_pool))),
        "ngram": lambda: Speculation(model=target, drafter=NGram(target.vocabulary, 4, shortest=1)),
    }[kind]()
    memory = Memory(pool, draft=draft_pool if kind == "draft" else None, prefixes=RadixTree(pool, budget=blocks))
    served = Scheduler(rounds, memory, Limits(batch=4, chunk=7, tokens=30), Switches(4, 3)).serve(asked)

    for job, plain, seen in zip(asked, plainly, served.generations, strict=True):
        pairs = enumerate(zip(plain.tokens, seen.tokens, strict=False))
        fork = next((place for place, (a, b) in pairs if a != b), None)
        if fork is None:
            assert (plain.tokens, plain.text, plain.finish) == (seen.tokens, seen.text, seen.finish)
        else:
            assert near_tie(target, job, plain.tokens[:fork])
    assert (blocks == 18) == any(step.preempted for step in served.steps)
    assert memory.used.target == memory.prefixes.held
