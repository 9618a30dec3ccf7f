"""A session of the reference engine: what it answers, what lives on, and what it tells of its cache."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from loads import made, suite

from draftgate.canaries.errors import BrokenAnswer
from draftgate.canaries.observations.serving.played import begun, load, requests, session, together
from draftgate.canaries.targets.hosting import Alternating, prefilled
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.cache.quantised import QuantisedStore
from draftgate.engine.models.base import Block
from draftgate.engine.tree import chain_parents

NUMBERS = suite().serving
LOAD = load(NUMBERS, batch=2)


def asked(count=2):
    return requests(made(), NUMBERS, count)


def test_answers_are_those_given_alone_and_prefixes_live_from_call_to_call():
    of = made()
    opened = session(of.candidate, LOAD)
    first, second = (opened.serve(together(asked())) for _ in range(2))

    alone = [generation.tokens for generation in of.baseline.generate(asked())]
    assert alone == [generation.tokens for generation in first.generations]
    assert alone == [generation.tokens for generation in second.generations]
    assert 0 == sum(begun(first).values()) < sum(begun(second).values())
    assert second.left.target == second.left.prefixes


def test_plain_decoding_is_hosted_too_and_drafts_nothing():
    served = session(made().baseline, LOAD).serve(together(asked()))

    assert not any(generation.rounds for generation in served.generations)


def test_an_engine_that_gives_up_has_answered_what_none_may():
    opened = session(made().candidate, load(NUMBERS, batch=2, blocks=2))

    with pytest.raises(BrokenAnswer, match="ended in an error") as caught:
        opened.serve(together(asked()))

    assert "candidate" == caught.value.role


def test_steps_are_counted_from_the_call_on():
    opened = session(made().candidate, LOAD)
    opened.serve(together(asked()))
    jobs = [replace(job, cancels=1) for job in together(asked())]

    assert ["cancelled"] * 2 == [generation.finish for generation in opened.serve(jobs).generations]


def test_caches_of_running_rows_are_compared_with_a_prefill():
    opened = session(made().candidate, LOAD)
    seen = []
    opened.serve(together(asked()), look=lambda: seen.extend(opened.differences()))

    assert len(seen) > 2
    assert all(one.missing == 0 and max(one.keys, one.values) < 1e-3 for one in seen)
    assert [] == opened.differences()


@pytest.mark.parametrize("name", ["int4", "paged-int8"])
def test_a_session_keeps_its_entries_in_the_arms_own_type_of_cache(name):
    of = made()
    plain, candidate = (arm.on_cache(name) for arm in (of.baseline, of.candidate))
    opened, seen = session(candidate, LOAD), []
    served = opened.serve(together(asked()), look=lambda: seen.extend(opened.differences()))

    assert isinstance(opened.scheduler.memory.pool.store, QuantisedStore)
    assert [one.tokens for one in plain.generate(asked())] == [one.tokens for one in served.generations]
    off = [max(one.keys, one.values) for one in seen]
    assert len(seen) > 2
    assert np.median(off) < max(_from_floats(candidate, opened, asked())) / 2  # rounding moves a code now and then


def _from_floats(arm, opened, requests):
    """How far entries of few bits are from those of floats: what a wrong yardstick would see."""
    texts = [request.prompt for request in requests]
    few, whole = prefilled(arm.model, texts, opened._fresh), prefilled(arm.model, texts)
    pairs = [pair for layers in zip(few, whole, strict=True) for pair in zip(*layers, strict=True)]
    return [float((one - other).abs().max()) for one, other in pairs]


class Poisoned(PagedCache):
    """After a round, the first entry of the first row's cache is not a number."""

    def commit(self, paths):
        super().commit(paths)
        if max(map(len, paths)) <= 8:
            slot = torch.tensor([self.sequences[0].slots(0, 1)])
            whole = self.pool.store.take(0, slot[:, :1] // self.pool.size)
            one = whole.keys[:, :, :1] * torch.nan
            self.pool.store.put(0, slot, one, one)


def test_a_number_that_is_none_is_told_as_such_and_ends_the_session():
    opened = session(made(replace(Strategies(), paged=Poisoned)).candidate, LOAD)
    seen = []
    with pytest.raises(BrokenAnswer, match="not finite"):
        opened.serve(together(asked()), look=lambda: seen.extend(opened.differences()))

    assert any(np.isnan(one.keys) and np.isnan(one.values) for one in seen)


def test_blocks_are_scored_behind_prompts_and_none_is_kept():
    arm, prompts = made().candidate, [request.prompt for request in asked()]
    block = Block.of([[5, 6, 7]] * 2, [chain_parents(2)] * 2)

    once, again = arm.scored_behind(prompts, [block, block], LOAD)

    assert (2, 3, arm.vocabulary) == once.shape
    assert np.array_equal(once, again)


def test_a_prefill_leaves_an_entry_a_token():
    arm = made().candidate
    layers = prefilled(arm.model, [[1, 2, 3], [4, 5]])

    assert 20 == len(layers)
    assert {3} == {entries.keys.shape[2] for entries in layers}


def test_a_windowed_arm_sees_so_many_tokens():
    assert 48 == made().candidate.windowed(48).model.window


def test_a_seam_is_crossed_after_so_many_steps():
    policy = Alternating(4, 2)

    assert [4, 4, 0, 0, 4] == [policy.length(1) for _ in range(5)]
