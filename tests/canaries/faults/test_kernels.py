"""The planted kernels move logits by shape and place, a little, and by nothing else."""

import numpy as np
import pytest
from arms import embedded

from draftgate.canaries.faults.kernels import AMPLITUDE, KernelByShape, kernel_by_shape
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
