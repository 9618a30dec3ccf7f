"""What is held, what is kept, and who finds it again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.errors import OutOfBlocks
from draftgate.engine.request import Sampling
from draftgate.engine.scheduling.memory import Memory

TEXT = tuple(map(int, np.random.default_rng(7).integers(0, 6, 60)))


def cached(served):
    """How many tokens each request began with that were kept, at its first admission."""
    pairs = [pair for step in served.steps for pair in zip(step.admitted, step.cached, strict=True)]
    return dict(reversed(pairs))


def turns(world, plan, count=3):
    """Requests that each begin with all that was said before, one after the other on one scheduler."""
    scheduler, said, found = plan.built(), TEXT[:10], []
    for turn in range(count):
        served = scheduler.serve([world.job(turn, said, 9, sampling=Sampling(temperature=1.0))])
        found.append((len(said), cached(served)[f"r{turn}"]))
        said = (*said, *served.generations[0].tokens, turn, turn + 1)
    return found


@pytest.mark.parametrize("arm", ["plain", "draft", "self", "ngram"])
def test_a_chained_request_begins_from_what_the_one_before_left(arm, world):
    """All that a turn committed but the newest token, as whole blocks; what agrees in part is copied."""
    found = turns(world, world.Plan(arm=arm))

    assert 0 == found[0][1]
    for (before, _), (_, reused) in pairwise(found):
        assert (before + 9 - 1) // world.size * world.size <= reused <= before + 9 + 1


def test_speculation_loses_no_hits(world):
    """On known answers, so that both arms are asked the same: nothing is found less of, at any draft length."""
    greedy = Sampling()
    for seed in range(4):
        text = np.random.default_rng(seed).integers(0, 6, 40)
        jobs = [world.job(n, text[: 10 + 7 * n], 6, arrives=20 * n, sampling=greedy) for n in range(4)]
        plain = cached(world.Plan(arm="plain").built().serve(jobs))
        for arm in ("draft", "self", "ngram", "uniform"):
            seen = cached(world.Plan(arm=arm).built().serve(jobs))
            assert all(seen[name] >= plain[name] for name in plain)


def test_a_preempted_row_finds_its_own_beginning_again(world):
    jobs = [world.job(n, TEXT[n : n + 8], 16) for n in range(6)]
    plan = world.Plan(blocks=22, arm="draft")
    served = plan.built().serve(jobs)
    again = [
        found
        for step in served.steps[1:]
        for name, found in zip(step.admitted, step.cached, strict=True)
        if any(name in other.preempted for other in served.steps)
    ]

    assert any(again)


def test_one_tenants_requests_never_begin_from_anothers(world):
    jobs = [world.job(n, TEXT[:20], 4, tenant=tenant, arrives=20 * n) for n, tenant in enumerate(["a", "b", "a", "b"])]
    seen = cached(world.Plan().built().serve(jobs))

    assert [0, 0] == [seen["r0"], seen["r1"]]
    assert min(seen["r2"], seen["r3"]) >= 16


def test_a_memory_without_the_salt_is_seen(world):
    class Mixes(Memory):
        def open(self, row):
            row.match = self.prefixes.match(row.fed[:-1], "")
            row.sequence = self.prefixes.begin(row.match)

        def keep(self, row):
            self.prefixes.insert(row.answer.context, row.held, "")

    jobs = [world.job(n, TEXT[:20], 4, tenant=tenant, arrives=20 * n) for n, tenant in enumerate(["a", "b"])]

    assert cached(world.Plan(memory=Mixes).built().serve(jobs))["r1"] > 0


class Watching(Memory):
    """Asks the tree, when a row ends, for what its cache holds behind the end of its answer."""

    def close(self, row):
        super().close(row)
        self.watched = getattr(self, "watched", [])
        self.watched.append((len(row.answer.context), row.answer.rounds[-1].cut if row.answer.rounds else 0))


class KeepsTheOvershoot(Watching):
    """Keeps what the cache holds, told or not (F40, F54)."""

    def keep(self, row):
        drafted = (*row.answer.context, *range(6))
        self.prefixes.insert(drafted, row.held, row.job.tenant)


@pytest.mark.parametrize(("memory", "honest"), [(Watching, True), (KeepsTheOvershoot, False)])
def test_what_was_accepted_behind_an_answers_end_is_not_kept(memory, honest, world):
    """The target drafts for itself, so rounds are full, and an end within one leaves tokens that nobody was told."""
    jobs = [world.job(n, TEXT[n : n + 9], 30, eos=(2,), sampling=Sampling(temperature=1.0)) for n in range(16)]
    scheduler = world.Plan(arm="self", memory=memory).built()
    served = scheduler.serve(jobs)
    overshot = 0
    for job, seen in zip(jobs, served.generations, strict=True):
        told = (*job.request.prompt, *seen.tokens)
        for more in range(6):
            match = scheduler.memory.prefixes.match((*told, *range(more, 6)), "")
            scheduler.memory.prefixes.unlock(match)
            overshot += match.length > len(told)

    assert any(cut for _, cut in scheduler.memory.watched)
    assert honest == (overshot == 0)


def test_a_request_that_fits_neither_pool_is_refused(world):
    memory = Memory(BlockPool(20, 4), draft=BlockPool(5, 4))

    memory.refuse(world.job(1, TEXT[:8], 8).request, reach=4)
    with pytest.raises(OutOfBlocks, match="take 6 blocks of 4 tokens, and the pool has 5"):
        memory.refuse(world.job(1, TEXT[:8], 9).request, reach=4)


def test_the_peak_counts_what_is_held_within_a_round(world):
    """Drafts under judgement are counted although a step's end does not show them."""
    served = world.Plan(budget=0, arm="adversary").built().serve([world.job(0, TEXT[:4], 5)])

    assert served.left == (0, 0, 0)
    assert max(step.blocks.target for step in served.steps) <= served.peak.target
    assert world.Plan(budget=0).built().serve([world.job(0, TEXT[:4], 8)]).peak.draft > 0


def test_the_peak_is_that_of_the_last_serving(world):
    scheduler = world.Plan(budget=0).built()
    large = scheduler.serve([world.job(0, TEXT[:40], 8)]).peak.target

    assert large > scheduler.serve([world.job(0, TEXT[:4], 4)]).peak.target
