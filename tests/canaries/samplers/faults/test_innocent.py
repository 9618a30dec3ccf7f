import pytest
import torch
from trials import RATES, bundle, look

from draftgate.canaries.contracts import Status
from draftgate.canaries.samplers.checks.base import judge
from draftgate.canaries.samplers.checks.law import planned
from draftgate.canaries.samplers.faults import innocent
from draftgate.canaries.samplers.faults.registry import INNOCENT

NAMES = ("zipf", "disjoint", "same", "sure")
OTHERS = {"multi-draft", "multi-draft-distinct", "honest-tree", "greedy"}  # slow, or of other targets: tested elsewhere
QUICK = [row for row in INNOCENT if row.name not in OTHERS]


@pytest.mark.parametrize("row", QUICK, ids=lambda row: row.name)
def test_every_innocent_sampler_follows_the_target(row):
    seen = look(row.make(), *NAMES, calls=60)
    rates = RATES._replace(effect=0.1)

    assert {Status.PASS} == {judge(test, seen, rates).status for test in planned(bundle(*NAMES))}


def test_what_has_no_weight_is_never_drawn():
    weights = torch.tensor([[0.0, 1.0, 0.0, 2.0]]).expand(1000, 4)

    assert {1, 3} == set(innocent.draw(weights, torch.Generator().manual_seed(0)).tolist())


def test_without_drafts_each_is_plain_decoding():
    p, q, x = torch.full((50, 1, 4), 0.25), torch.zeros((50, 0, 4)), torch.zeros((50, 0), dtype=torch.int64)
    for sampler in (innocent.token, innocent.no_bonus, innocent.resample_until_disagree):
        assert (50, 1) == tuple(sampler(p, q, x, torch.Generator().manual_seed(0)).shape)
