"""The judge of samplers on its whole zoo: every wrong one is held, five seeds of five; every honest one passes."""

import pytest

from draftgate.canaries.samplers.faults import campaign
from draftgate.canaries.samplers.faults.registry import FAULTS, INNOCENT

pytestmark = pytest.mark.slow
REPEATS = 5


@pytest.mark.parametrize("row", FAULTS, ids=lambda row: row.name)
def test_a_wrong_sampler_is_held_every_time(row):
    lines = [campaign.run(campaign.Job(row.name, seed, None)) for seed in range(REPEATS)]

    assert ["HOLD"] * REPEATS == [line["verdict"] for line in lines]


@pytest.mark.parametrize("row", INNOCENT, ids=lambda row: row.name)
def test_an_honest_sampler_passes(row):
    assert "PASS" == campaign.run(campaign.Job(row.name, 0, campaign.HONEST_EFFECT))["verdict"]
