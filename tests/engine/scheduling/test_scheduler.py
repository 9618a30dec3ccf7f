"""Served in any company, order, chunks and memory, a request has the answer that it has alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from draftgate.engine.decoding.round import Speculation
from draftgate.engine.errors import EngineError, LogitsNotFinite, OutOfBlocks, PromptTooLong
from draftgate.engine.request import Sampling
from draftgate.engine.scheduling.scheduler import Scheduler
from draftgate.engine.verification.batched import BatchedLossless
from draftgate.engine.verification.lossless import Lossless

ARMS = ("plain", "draft", "self", "ngram", "uniform", "oracle", "odd-even", "adversary")


def compared(world, plan, jobs):
    """What was served, and what the same requests answer alone."""
    scheduler = plan.built()
    served = scheduler.serve(jobs)
    world.nothing_leaks(scheduler)
    return served, world.essence(served.generations), world.essence([plan.alone(job) for job in jobs])


@pytest.mark.parametrize("arm", ARMS)
def test_answers_are_those_of_the_decoder_alone(arm, world):
    """Greedy and sampled, rounds and all."""
    served, seen, alone = compared(world, world.Plan(arm=arm), world.jobs())

    assert alone == seen
    assert any(step.waiting for step in served.steps)
    assert max(step.rows for step in served.steps) == 6


@pytest.mark.parametrize("arm", ["plain", "draft", "ngram"])
@pytest.mark.parametrize(
    "load",
    [{"chunk": 1}, {"chunk": 64}, {"tokens": 1}, {"tokens": 5, "chunk": 4}, {"batch": 1}, {"batch": 16}],
    ids=str,
)
def test_answers_depend_neither_on_chunks_nor_on_the_batch(arm, load, world):
    _, seen, alone = compared(world, world.Plan(arm=arm, **load), world.jobs())

    assert alone == seen


@pytest.mark.parametrize("arm", ["plain", "draft", "self", "ngram", "odd-even"])
@pytest.mark.parametrize("budget", [0, 4, 13])
def test_answers_do_not_depend_on_preemption(arm, budget, world):
    """Thirteen blocks of four tokens: the longest request alone takes twelve or thirteen of them."""
    plan = world.Plan(arm=arm, blocks=13, budget=budget)
    served, seen, alone = compared(world, plan, world.jobs())

    assert alone == seen
    assert sum(len(step.preempted) for step in served.steps) > 0
    assert max(served.peak[:2]) <= 13


@pytest.mark.parametrize("arm", ["plain", "draft"])
def test_answers_do_not_depend_on_the_order(arm, world):
    plan, jobs = world.Plan(arm=arm, blocks=16), world.jobs(latest=0)
    _, forward, _ = compared(world, plan, jobs)
    _, backward, _ = compared(world, plan, jobs[::-1])

    assert forward == backward[::-1]


@pytest.mark.parametrize("verifier", [Lossless(), BatchedLossless()])
def test_each_request_drafts_as_much_as_it_asks_for(verifier, world):
    """Beside others that draft more, or nothing at all."""
    jobs = [world.job(n, max_tokens=15, draft_length=(0, 1, 2, 3, None)[n % 5]) for n in range(10)]
    _, seen, alone = compared(world, world.Plan(verifier=verifier, batch=10), jobs)

    assert alone == seen
    assert [{max(r.drafted for r in rounds)} for *_, rounds in seen[:5]] == [{0}, {1}, {2}, {3}, {3}]


@given(data=st.data())
def test_no_load_changes_an_answer_or_leaks(world, data):
    """Arrivals, cancellations, tenants, ends, chunks, memory and drafters as they come."""
    numbers = st.integers(0, 12)
    jobs = [
        world.job(
            number,
            data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=14)),
            data.draw(st.integers(1, 12)),
            arrives=(arrives := data.draw(numbers)),
            cancels=data.draw(st.none() | numbers.map(lambda more, at=arrives: at + more)),
            tenant=data.draw(st.sampled_from(["", "a"])),
            draft_length=None,
            eos=data.draw(st.sampled_from([(), (3,)])),
        )
        for number in range(data.draw(st.integers(1, 8)))
    ]
    plan = world.Plan(
        arm=data.draw(st.sampled_from(ARMS)),
        blocks=data.draw(st.integers(8, 20)),
        budget=data.draw(st.integers(0, 8)),
        batch=data.draw(st.integers(1, 8)),
        chunk=data.draw(st.integers(1, 16)),
        tokens=data.draw(st.integers(1, 32)),
    )
    scheduler = plan.built()
    served = scheduler.serve(jobs)

    for job, seen in zip(jobs, served.generations, strict=True):
        alone = plan.alone(job)
        if seen.finish == "cancelled":
            assert alone.tokens[: len(seen.tokens)] == seen.tokens
            assert alone.rounds[: len(seen.rounds)] == seen.rounds
        else:
            assert world.essence([alone]) == world.essence([seen])
    world.nothing_leaks(scheduler)


def held(memory, row):
    """The tokens whose entries a row holds in the target's cache: a table model's entries are its tokens."""
    keys = memory.pool.store.take(0, torch.tensor([row.held.blocks])).keys
    return keys[0, 0, : row.held.length, 0].tolist()


def test_after_every_step_a_row_holds_what_it_has_committed_and_nothing_else(world):
    """In both caches, whatever was preempted, shared and evicted."""
    scheduler = world.Plan(blocks=14, budget=6).built()
    for job in world.jobs():
        scheduler.submit(job)
    steps = 0
    while scheduler.busy:
        scheduler.step()
        drafts = scheduler.rounds.drafter._cache.sequences
        for number, row in enumerate(scheduler.running):
            context = row.answer.context
            assert context[:-1] == held(scheduler.memory, row)
            if number < len(drafts):
                assert len(context) - 2 <= drafts[number].length <= len(context) - 1
        steps += 1

    assert steps > 40


class JoinsByName(Speculation):
    """Outcomes in the order of the rows, answers in the order of their names (F64)."""

    def extend(self, answers, trees, outcomes):
        super().extend(sorted(answers, key=lambda answer: answer.request.name), trees, outcomes)


class StartsItsChanceAnew(Scheduler):
    """A row that was preempted counts its rounds from the beginning."""

    def preempt(self, row):
        super().preempt(row)
        row.answer.rounds = []


class AppliesLateFrames(Scheduler):
    """What a preempted row's last round gave is applied once more when it has been fed again (F66)."""

    def preempt(self, row):
        super().preempt(row)
        row.late = row.answer.tokens[-1:]

    def _round(self):
        for row in self.running:
            for token in row.__dict__.pop("late", []):
                row.answer.step(token)
        super()._round()


@pytest.mark.parametrize(
    "wrong",
    [
        {"speculation": JoinsByName, "arm": "ngram"},
        {"scheduler": StartsItsChanceAnew},
        {"scheduler": AppliesLateFrames, "arm": "ngram"},
    ],
    ids=lambda wrong: next(iter(wrong.values())).__name__,
)
def test_a_scheduler_that_mixes_rows_or_rounds_is_seen(wrong, world):
    plan, jobs = world.Plan(blocks=13, **wrong), world.jobs()

    assert world.essence(plan.built().serve(jobs).generations) != world.essence([plan.alone(job) for job in jobs])


def test_a_memory_that_forgets_a_block_is_seen(world):
    plan = world.Plan()
    scheduler = plan.built()
    leave = scheduler._leave

    def forgetful(gone):
        if gone:
            scheduler.memory.pool.allocate(1)
        leave(gone)

    scheduler._leave = forgetful
    scheduler.serve(world.jobs(4))

    with pytest.raises(AssertionError):
        world.nothing_leaks(scheduler)


def test_a_scheduler_may_serve_again_under_the_same_names(world):
    """And answers as a new one does: nothing crosses from what it served before."""
    scheduler, jobs = world.Plan(blocks=20).built(), world.jobs()
    first, second = scheduler.serve(jobs), scheduler.serve(jobs)

    assert world.essence(first.generations) == world.essence(second.generations)


def test_nobody_overtakes_and_the_first_is_never_preempted(world):
    """Many long requests in little memory: who came first gets something at every step, and ends first."""
    jobs = [world.job(n, prompt=range(6), max_tokens=16, sampling=Sampling(temperature=1.0)) for n in range(8)]
    served = world.Plan(blocks=16, batch=8, arm="plain").built().serve(jobs)
    preempted = [name for step in served.steps for name in step.preempted]
    first = [min(step.admitted, default=None) for step in served.steps]

    assert len(preempted) > 2
    assert "r0" not in preempted
    assert [f"r{n}" for n in range(8)] == [name for step in served.steps for name in step.finished]
    assert "r0" == first[0]


def test_a_large_request_is_not_passed_by_small_ones(world):
    """It waits for room at the head of the queue, and those behind it wait with it."""
    first, large = world.job(0, prompt=[2] * 24, max_tokens=20), world.job(1, prompt=[1] * 30, max_tokens=4)
    small = [world.job(n, prompt=(n % 6,), max_tokens=3) for n in range(2, 9)]
    served = world.Plan(blocks=12, arm="plain").built().serve([first, large, *small])
    admitted = [name for step in served.steps for name in step.admitted]

    assert ["r0", *(f"r{n}" for n in range(1, 9))] == list(dict.fromkeys(admitted))
    assert next(step.step for step in served.steps if "r1" in step.admitted) > 0


def test_drafts_count_in_the_budget(world):
    """Where the draft's pool is small, fewer requests are under way; with all the room, as many as the limit says."""
    jobs = [world.job(n, prompt=[n % 6] * 12, max_tokens=12) for n in range(8)]
    wide, narrow = world.Plan(batch=8).built(), world.Plan(batch=8).built()
    narrow.memory.draft.allocate(180)  # others hold them
    narrow.memory.draft.blocks = 20

    assert 8 == max(step.rows for step in wide.serve(jobs).steps)
    assert 8 > max(step.rows for step in narrow.serve(jobs).steps)


@pytest.mark.parametrize(
    ("bad", "kind", "says"),
    [
        ({"prompt": ()}, EngineError, "request r9 has an empty prompt"),
        ({"max_tokens": 0}, EngineError, "asks for 0 tokens"),
        ({"max_tokens": 1 << 31}, PromptTooLong, "exceed the model's context"),
        ({"prompt": (1,) * 70}, OutOfBlocks, "take 21 blocks of 4 tokens, and the pool has 20"),
        ({"seed": -1}, EngineError, "seed -1"),
        ({"stop": ("",)}, EngineError, "empty stop string"),
        ({"draft_length": 4}, EngineError, "drafts of 4 tokens, and the drafter gives 3"),
    ],
)
def test_what_cannot_be_served_is_refused_and_its_neighbours_are_served(bad, kind, says, world):
    scheduler, jobs = world.Plan(blocks=20).built(), world.jobs(6)
    for job in jobs[:3]:
        scheduler.submit(job)
    with pytest.raises(kind, match=says) as refused:
        scheduler.submit(world.job(9, **bad))
    for job in jobs[3:]:
        scheduler.submit(job)
    while scheduler.busy:
        scheduler.step()

    assert "\n" not in str(refused.value)
    assert world.essence([world.Plan().alone(j) for j in jobs]) == world.essence(
        [scheduler.take(j.request.name) for j in jobs]
    )


def test_two_requests_of_one_name_are_refused(world):
    scheduler = world.Plan().built()

    with pytest.raises(EngineError, match="two requests are named r1"):
        scheduler.serve([world.job(1), world.job(2), world.job(1, arrives=5)])
    assert not scheduler.busy
    assert 2 == len(scheduler.serve([world.job(1), world.job(2)]).generations)


def test_more_requests_than_fit_wait(world):
    """A batch larger than the budget is served in turns."""
    jobs = [world.job(n, max_tokens=10) for n in range(40)]
    _, seen, alone = compared(world, world.Plan(batch=64, blocks=20), jobs)

    assert alone == seen


def test_a_request_as_long_as_the_pool_is_served_alone_after_one_that_begins_like_it(world):
    """A prefix used in part is locked and copied; where that is a block too many, it is not used."""
    text = np.random.default_rng(3).integers(0, 6, 38)
    jobs = [world.job(0, text[:18], 1), world.job(1, text[:35], 2, arrives=4), world.job(2, text, 1, arrives=9)]
    plan = world.Plan(arm="plain", blocks=10)
    _, seen, alone = compared(world, plan, jobs)

    assert alone == seen


class Hangs(Lossless):
    """A client that goes away while its drafts are being verified."""

    def __init__(self, at):
        self.at, self.rounds, self.scheduler = at, 0, None

    def verify(self, trees, probs, chances):
        self.rounds += 1
        if self.rounds == self.at:
            self.scheduler.cancel("r1")
        return super().verify(trees, probs, chances)


@pytest.mark.parametrize("at", [1, 2, 4])
def test_a_request_cancelled_while_it_is_verified_ends_with_that_round(at, world):
    """It keeps what the round gave it; its neighbours do not notice, and its blocks are free."""
    jobs, verifier = [world.job(n, max_tokens=30) for n in range(4)], Hangs(at)
    plan = world.Plan(verifier=verifier)
    verifier.scheduler = plan.built()
    served = verifier.scheduler.serve(jobs)
    alone = [plan.alone(job) for job in jobs]

    assert "cancelled" == served.generations[1].finish
    assert at == len(served.generations[1].rounds)
    assert alone[1].tokens[: len(served.generations[1].tokens)] == served.generations[1].tokens
    for n in (0, 2, 3):
        assert world.essence([alone[n]]) == world.essence([served.generations[n]])
    world.nothing_leaks(verifier.scheduler)


def test_a_request_may_be_cancelled_at_any_step(world):
    """Waiting, half fed, running: what it has said by then is the beginning of what it would have said."""
    for at in (0, 1, 2, 4, 7, 9):
        jobs = [world.job(n, prompt=range(6), max_tokens=12, cancels=at if n in (1, 4) else None) for n in range(6)]
        plan = world.Plan(batch=3, chunk=2)
        scheduler = plan.built()
        served = scheduler.serve(jobs)
        for job, seen in zip(jobs, served.generations, strict=True):
            alone = plan.alone(job)
            assert alone.tokens[: len(seen.tokens)] == seen.tokens
            assert job.cancels is not None or world.essence([alone]) == world.essence([seen])
        world.nothing_leaks(scheduler)


def test_a_request_that_ends_in_the_round_in_which_it_is_cancelled_has_ended(world):
    (job,) = [world.job(1, max_tokens=1, cancels=0)]

    assert "length" == world.Plan().built().serve([job]).generations[0].finish


def test_nobody_can_cancel_what_is_not_served(world):
    scheduler = world.Plan().built()
    scheduler.submit(world.job(1))
    scheduler.cancel("r1")

    with pytest.raises(EngineError, match="no request named r2 is being served"):
        scheduler.cancel("r2")
    scheduler.step()
    assert "cancelled" == scheduler.take("r1").finish


def test_a_failure_in_a_round_ends_the_serving_and_leaks_nothing(world):
    class Breaks(Lossless):
        def verify(self, trees, probs, chances):
            raise LogitsNotFinite("the model's logits are not finite")

    scheduler = world.Plan(verifier=Breaks()).built()
    with pytest.raises(LogitsNotFinite):
        scheduler.serve(world.jobs())
    world.nothing_leaks(scheduler)

    assert not scheduler.busy


def test_nothing_to_serve_is_no_answer(world):
    served = world.Plan().built().serve([])

    assert ([], []) == (served.generations, served.steps)
