"""Who sees whom is wrong, and nothing else."""

import numpy as np
from arms import embedded

from draftgate.canaries.faults.masks import SeesItsBlockOnly, SiblingsAttend, let_siblings_attend, see_the_block_only
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.base import Block
from draftgate.engine.tree import chain_parents

PROMPT = [5, 6, 7, 8]
TREE = (-1, 0, 0)


def logits(model, tokens, parents):
    cache = ContiguousCache(1)
    model.score_last(Block.chains([PROMPT]), cache)
    cache.commit([list(range(1, len(PROMPT)))])
    return model.score(Block.of([tokens], [parents]), cache)[0]


def test_a_block_loses_what_is_cached_and_a_single_token_does_not():
    blind = see_the_block_only(Strategies()).model(embedded())

    assert isinstance(blind, SeesItsBlockOnly)
    assert np.array_equal(logits(blind, [9], (-1,)), logits(embedded(), [9], (-1,)))
    assert np.abs(logits(blind, [9, 10], chain_parents(1)) - logits(embedded(), [9, 10], chain_parents(1))).max() > 0.1
    assert blind.identity() == embedded().identity()
    assert blind.decode([9]) == embedded().decode([9])


def test_siblings_see_one_another_and_chains_are_as_they_were():
    wide = let_siblings_attend(Strategies()).model(embedded())

    assert isinstance(wide, SiblingsAttend)
    same, moved = logits(wide, [9, 10, 11], TREE), logits(embedded(), [9, 10, 11], TREE)
    assert np.abs(same[1] - moved[1]).max() < 1e-3
    assert np.abs(same[2] - moved[2]).max() > 0.1
    chain = chain_parents(2)
    assert np.abs(logits(wide, [9, 10, 11], chain) - logits(embedded(), [9, 10, 11], chain)).max() < 1e-3


def test_a_model_of_another_sort_stays_as_it_is():
    table = object()

    assert let_siblings_attend(Strategies()).model(table) is table
