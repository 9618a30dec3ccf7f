import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from draftgate.engine.models.attention import additive, positions, visible
from draftgate.engine.models.base import Block


@st.composite
def rows_of_trees(draw):
    rows = draw(st.integers(1, 4))
    shapes = [draw(shape())] * rows if draw(st.booleans()) else [draw(shape()) for _ in range(rows)]
    return shapes, np.array([draw(st.integers(0, 5)) for _ in range(rows)])


@st.composite
def shape(draw):
    return (-1, *(draw(st.integers(0, node - 1)) for node in range(1, draw(st.integers(1, 6)))))


def block_of(shapes):
    return Block.of([[1] * len(parents) for parents in shapes], shapes)


def slowly(shapes, lengths):
    """Who sees whom, and at which position, by walking up from every node."""
    width = max(map(len, shapes))
    seen = np.zeros((len(shapes), width, max(lengths) + width), bool)
    places = np.zeros((len(shapes), width), int)
    for row, (parents, length) in enumerate(zip(shapes, lengths, strict=True)):
        for node in range(width):
            seen[row, node, :length] = True
            places[row, node] = length
            at = node
            seen[row, node, length + at] = True
            while at < len(parents) and parents[at] >= 0:
                at = parents[at]
                seen[row, node, length + at] = True
                places[row, node] += 1
    return seen, places


@given(rows_of_trees())
def test_a_node_sees_its_rows_committed_entries_its_ancestors_and_itself(trees):
    shapes, lengths = trees
    seen, places = slowly(shapes, lengths)

    assert np.array_equal(seen, visible(block_of(shapes), lengths))
    assert np.array_equal(places, positions(block_of(shapes), lengths).numpy())


def test_a_sibling_and_its_children_are_not_seen():
    seen = visible(block_of([(-1, 0, 0, 1)]), np.array([2]))[0]

    assert [0, 1, 2, 3, 5] == np.flatnonzero(seen[3]).tolist()
    assert [0, 1, 2, 4] == np.flatnonzero(seen[2]).tolist()


def test_padding_sees_a_token_so_that_no_row_of_the_mask_is_empty():
    """A row of nothing but the lowest value gives NaN under some attention kernels."""
    seen = visible(block_of([(-1, 0, 1), (-1,)]), np.array([0, 0]))

    assert seen.any(axis=-1).all()
    assert [[1]] == [np.flatnonzero(seen[1, 1]).tolist()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_mask_is_additive_in_the_models_dtype(dtype):
    mask = additive(np.array([[[True, False]]]), dtype)

    assert dtype == mask.dtype
    assert (1, 1, 1, 2) == mask.shape
    assert [0.0, torch.finfo(dtype).min] == mask.flatten().tolist()
