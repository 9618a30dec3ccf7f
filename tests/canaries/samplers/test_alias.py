import numpy as np
import torch

from draftgate.canaries.samplers.alias import AliasTable
from draftgate.stats.chi_square import goodness_of_fit
from tolerances import SURE

LAWS = np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25]])


def drawn(row, n=50_000):
    return AliasTable(LAWS).draw(torch.full((n,), row), torch.Generator().manual_seed(5)).bincount(minlength=4).numpy()


def test_draws_follow_their_row():
    counts = drawn(0)

    assert counts[3] == 0
    assert goodness_of_fit(counts, LAWS[0], hypothesis="", floor=100).p_value > SURE
    assert goodness_of_fit(counts[:3], LAWS[0][[1, 0, 2]], hypothesis="", floor=100).p_value < SURE


def test_a_certain_token_always_comes():
    assert [0, 0, 50_000, 0] == drawn(1).tolist()


def test_rounding_never_draws_what_has_no_mass():
    law = np.full(7, 0.0)
    law[:6] = 1 / 6
    table = AliasTable(law[None])
    found = table.draw(torch.zeros(200_000, dtype=torch.int64), torch.Generator().manual_seed(6))

    assert int(found.max()) < 6
