"""One round: who drafts how much, and whose outcome is whose."""

from __future__ import annotations

import pytest

from draftgate.engine.cache.blocks import BlockPool
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.cache.paged import PagedCache
from draftgate.engine.decoding.prefill import prefill
from draftgate.engine.decoding.round import Speculation
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.drafters.synthetic import Adversary, Oracle
from draftgate.engine.request import Sampling

KNOWN = {f"r{n}": (1, 2, 3, 0) * 8 for n in range(3)}


def started(rounds, small, new_cache=ContiguousCache, **more):
    """Three rows that have their first tokens, and their cache."""
    requests = [small.request((0, 1, n), 20, name=f"r{n}", seed=n, **more) for n in range(3)]
    cache = new_cache(3)
    answers = [rounds.opened(request, 0.0) for request in requests]
    rounds.first(answers, prefill(rounds.model, cache, requests))
    rounds.begin()
    rounds.join(3)
    return answers, cache


@pytest.mark.parametrize("drafter", [Oracle, Adversary])
def test_each_row_drafts_as_much_as_it_may(drafter, small):
    rounds = Speculation(model=small.table_model(), drafter=drafter(4, 4, KNOWN))
    answers, cache = started(rounds, small)
    rounds.round(answers, cache, [0, 2, 4])

    assert [0, 2, 4] == [answer.rounds[0].drafted for answer in answers]
    assert (4, 5) == (rounds.length, rounds.nodes)


def test_no_row_drafts_what_would_be_cut(small):
    rounds = Speculation(model=small.table_model(), drafter=Oracle(4, 4, KNOWN))
    answers, cache = started(rounds, small)
    cache.select([0])
    while answers[0].finish is None:
        rounds.round(answers[:1], cache, [4])

    assert 20 == len(answers[0].tokens)
    assert all(r.cut == 0 for r in answers[0].rounds)


def test_after_a_round_the_cache_holds_what_was_told_but_the_newest_token(small):
    rounds = Speculation(model=small.table_model(), drafter=DraftModel(small.table_model(seed=3), 3))
    answers, cache = started(rounds, small)
    for _ in range(3):
        rounds.round(answers, cache, [3, 3, 3])
        assert [len(answer.context) - 1 for answer in answers] == cache.lengths.tolist()


def test_rows_that_draft_less_take_no_more_blocks_than_they_need(small):
    """Padding up to the widest tree is written nowhere: a pool that has just enough serves the round."""
    rounds = Speculation(model=small.table_model(), drafter=Oracle(4, 4, KNOWN))
    pool = BlockPool(3 * 3 + 1 + 1 + 5, 1)  # the prompts, two roots, a root with four drafts
    answers, cache = started(rounds, small, PagedCache.factory(pool))
    rounds.round(answers, cache, [0, 0, 4])

    assert 4 == answers[2].rounds[0].drafted
    assert 16 == pool.peak


def test_greedy_rows_take_the_tables_best(small):
    model = small.table_model()
    rounds = Speculation(model=model, drafter=Oracle(4, 2, KNOWN))
    answers, cache = started(rounds, small, sampling=Sampling())
    rounds.round(answers, cache, [2, 2, 2])
    for answer in answers:
        context = list(answer.request.prompt)
        for token in answer.tokens:
            assert token == model.law(context).argmax()
            context.append(token)
