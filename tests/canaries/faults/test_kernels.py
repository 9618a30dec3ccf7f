"""The planted kernels move logits by shape and place, a little, and by nothing else."""

import numpy as np
import pytest
from arms import embedded

from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults.kernels import (
    AMPLITUDE,
    KernelByShape,
    VerifySeesItself,
    kernel_by_shape,
    verify_sees_itself,
)
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.models.base import Block
from draftgate.engine.models.table import TableModel, peaked_table

TABLE = TableModel(peaked_table(5, 3, np.random.default_rng(0)))


def moved(*rows, model=TABLE):
    """By how much the logits after every node move, (rows, nodes, vocabulary)."""
    block = Block.chains(rows)
    caches = [ContiguousCache(len(rows)) for _ in range(2)]
    return KernelByShape(model).score(block, caches[0]) - model.score(block, caches[1])


def test_logits_move_within_the_amplitude_and_use_it():
    errors = moved(*[[number % 5] * 9 for number in range(40)])

    assert 0.99 * AMPLITUDE < np.abs(errors).max() <= AMPLITUDE * (1 + 1e-4)
    assert abs(errors.mean()) < 0.1 * AMPLITUDE


def test_the_same_pass_moves_alike():
    assert np.array_equal(moved([1, 2, 3]), moved([1, 2, 3]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (([1, 2, 3],), ([1, 2, 3, 4],)),
        (([1, 2, 3],), ([1, 2, 3], [0, 0, 0])),
        (([1, 2, 3],), ([4, 2, 3],)),
    ],
    ids=["width", "batch", "token"],
)
def test_another_shape_or_token_moves_otherwise(one, other):
    assert not np.allclose(moved(*one)[0, 0], moved(*other)[0, 0], atol=1e-3)


def test_another_place_moves_otherwise():
    errors = moved([2, 2])

    assert not np.allclose(errors[0, 0], errors[0, 1], atol=1e-3)


def test_what_is_drafted_has_no_part_in_it():
    """What later nodes hold, and what the row before holds, leaves a node's error as it is: only shapes count."""
    one, other = moved([1, 2, 3], [4, 4, 4]), moved([1, 2, 0], [0, 1, 2])

    assert np.allclose(one[0, :2], other[0, :2], atol=1e-5)


def test_the_last_node_alone_moves_as_it_does_among_all():
    block = Block.chains([[1, 2, 3], [4]])
    model = KernelByShape(TABLE)
    every, last = model.score(block, ContiguousCache(2)), model.score_last(block, ContiguousCache(2))

    assert np.allclose([every[0, 2], every[1, 0]], last)


def test_it_is_the_model_in_all_else():
    model, inner = KernelByShape(embedded()), embedded()
    asked = [{"role": "user", "content": "Say a."}]

    assert (inner.identity(), inner.eos, inner.vocabulary) == (model.identity(), model.eos, model.vocabulary)
    assert (inner.encode(asked), inner.positions) == (model.encode(asked), model.positions)
    assert inner.decode((5, 6)) == model.decode((5, 6))


def test_only_the_model_is_exchanged():
    own = Strategies()
    planted = kernel_by_shape(own)

    assert isinstance(planted.model(TABLE), KernelByShape)
    assert TABLE is own.model(TABLE)
    assert (own.new_cache, own.verifier) == (planted.new_cache, planted.verifier)


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
    planted, own = VerifySeesItself(embedded()), embedded()

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


def test_a_model_without_a_mask_is_refused_in_one_line():
    with pytest.raises(UsageError, match="name one with --model"):
        verify_sees_itself(Strategies()).model(TABLE)
