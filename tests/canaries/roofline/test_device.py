"""The worked figures of the seeds, by name, as the command gives them."""

import pytest

from draftgate.canaries.roofline.device import Drafting, batches, document
from draftgate.engine.costs.devices import find
from draftgate.engine.costs.roofline import RooflineCosts, Weights
from draftgate.engine.costs.speedup import predicted
from tolerances import ROUNDING

H100, TARGET = find("h100-sxm5"), Weights(parameters=70e9, bytes_each=2, cached=0)
DRAFTING = Drafting(acceptance=0.8, k=4, longest=8, most=512)


def figures(draft=None):
    return {row["figure"]: row for row in document(H100, TARGET, draft, DRAFTING)["figures"]}


@pytest.mark.parametrize(
    ("name", "shown", "unit"),
    [
        ("intensity", "1.0", "FLOP/byte"),
        ("ridge", "295.2", "FLOP/byte"),
        ("utilisation", "0.34", "%"),
        ("pass", "41.8", "ms"),
        ("ceiling", "23.9", "tok/s"),
        ("tokens", "3.36", "a round"),
    ],
)
def test_the_seeds_figures(name, shown, unit):
    row = figures()[name]

    digits = len(shown.partition(".")[2])
    assert (shown, unit) == (f"{row['value']:.{digits}f}", row["unit"])


def test_a_draft_costs_its_share_of_a_pass():
    found = figures(Weights(parameters=7e9, bytes_each=2, cached=0))

    assert 0.1 == pytest.approx(found["c"]["value"], rel=ROUNDING)
    assert 3.3616 / 1.4 == pytest.approx(found["ideal"]["value"], rel=ROUNDING)
    assert found["ideal"]["value"] == pytest.approx(found["speed-up"]["value"], rel=ROUNDING)  # reading hides the width
    assert 6 == found["best K"]["value"]


def test_speed_up_falls_with_the_batch_to_break_even():
    found = document(H100, TARGET, None, DRAFTING)

    ups = [row["speedup"] for row in found["batches"]]
    assert [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] == [row["batch"] for row in found["batches"]]
    assert ups == sorted(ups, reverse=True)
    assert 256 <= found["break_even"] < 512
    assert [0] == [row["best_k"] for row in found["batches"] if row["batch"] > found["break_even"]]


def test_the_best_length_is_at_least_as_good_as_the_stated_one():
    costs = RooflineCosts(device=H100, target=TARGET, draft_weights=None)

    for row in batches(costs, DRAFTING):
        assert row["best"] >= row["speedup"]
        assert row["best"] == predicted(costs, 0.8, row["batch"], row["best_k"])
