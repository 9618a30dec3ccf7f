"""Who sees whom is wrong, and nothing else."""

import numpy as np
import pytest
from arms import embedded

from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults.masks import SiblingsAttend, VerifySeesItself, let_siblings_attend, verify_sees_itself
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.base import Block
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.tree import chain_parents

PROMPT = [5, 6, 7, 8]
TREE = (-1, 0, 0)
TABLE = TableModel(peaked_table(5, 3, np.random.default_rng(0)))


def logits(model, tokens, parents):
    cache = ContiguousCache(1)
    model.score_last(Block.chains([PROMPT]), cache)
    cache.commit([list(range(1, len(PROMPT)))])
    return model.score(Block.of([tokens], [parents]), cache)[0]


def test_siblings_see_one_another_and_chains_are_as_they_were():
    wide = let_siblings_attend(Strategies()).model(embedded())

    assert isinstance(wide, SiblingsAttend)
    same, moved = logits(wide, [9, 10, 11], TREE), logits(embedded(), [9, 10, 11], TREE)
    assert np.abs(same[1] - moved[1]).max() < 1e-3
    assert np.abs(same[2] - moved[2]).max() > 0.1
    chain = chain_parents(2)
    assert np.abs(logits(wide, [9, 10, 11], chain) - logits(embedded(), [9, 10, 11], chain)).max() < 1e-3


def after(model, *widths, prompt=(4, 5, 6, 7, 8, 9)):
    """What is said after each token of a text that is scored in passes of these widths behind a prompt."""
    cache, text = ContiguousCache(1), [10, 11, 12, 13]
    model.score(Block.chains([prompt]), cache)
    cache.commit([list(range(1, len(prompt)))])
    found = []
    for width in widths:
        part, text = text[:width], text[width:]
        found.append(model.score(Block.chains([part]), cache)[0])
        cache.commit([list(range(1, width))])
    return np.concatenate(found)


def test_a_block_sees_itself_alone_and_one_token_sees_everything():
    planted, own = verify_sees_itself(Strategies()).model(embedded()), embedded()

    assert isinstance(planted, VerifySeesItself)
    assert np.allclose(after(own, 1, 1, 1, 1), after(planted, 1, 1, 1, 1), atol=1e-3)
    assert not np.allclose(after(own, 4), after(planted, 4), atol=0.5)
    assert np.allclose(after(own, 4), after(own, 1, 1, 1, 1), atol=1e-3)


def test_what_stands_before_a_block_makes_no_difference_to_it():
    planted = VerifySeesItself(embedded())

    assert np.allclose(after(planted, 4), after(planted, 4, prompt=(100, 101, 102, 103, 104, 105)), atol=1e-3)


def test_a_prompt_is_read_as_it_should_be():
    block = Block.chains([[4, 5, 6], [7]])
    planted, own = VerifySeesItself(embedded()), embedded()

    assert np.array_equal(own.score(block, ContiguousCache(2))[0], planted.score(block, ContiguousCache(2))[0])


def test_the_planted_model_is_the_same_model():
    assert embedded().identity() == VerifySeesItself(embedded()).identity()
    assert VerifySeesItself(embedded()).model is embedded().model


@pytest.mark.parametrize("plant", [verify_sees_itself, let_siblings_attend], ids=["verify", "siblings"])
def test_a_model_without_a_mask_is_refused_in_one_line(plant):
    with pytest.raises(UsageError, match="name one with --model"):
        plant(Strategies()).model(TABLE)
