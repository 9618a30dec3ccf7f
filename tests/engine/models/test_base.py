import numpy as np

from draftgate.engine.models.base import Block


def test_shorter_rows_are_padded_on_the_right_and_keep_their_lengths():
    block = Block.chains([[5, 6, 7], [8]])

    assert [[5, 6, 7], [8, 0, 0]] == block.tokens.tolist()
    assert ((-1, 0, 1), (-1,)) == block.parents
    assert [3, 1] == block.lengths.tolist()


def test_trees_of_different_sizes_share_a_block():
    block = Block.of([np.array([1, 2, 3]), np.array([4, 5])], [(-1, 0, 0), (-1, 0)])

    assert [[1, 2, 3], [4, 5, 0]] == block.tokens.tolist()
    assert [3, 2] == block.lengths.tolist()
