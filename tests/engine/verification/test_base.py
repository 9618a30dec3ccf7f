import numpy as np

from draftgate.engine.verification.base import RowChance


def test_a_row_reads_each_nodes_own_uniform_and_draws_with_the_last():
    chance = RowChance(np.array([0.1, 0.2, 0.3]), 0.6)

    assert [0.1, 0.2, 0.3] == [chance.uniform(node) for node in range(3)]
    assert 1 == chance.draw(np.array([0.5, 0.25, 0.25]))
