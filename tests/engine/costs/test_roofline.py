"""The seeds' worked figures, and how long a pass takes."""

import pytest

from draftgate.engine.costs import roofline
from draftgate.engine.costs.devices import find
from draftgate.engine.costs.roofline import RooflineCosts, Weights
from tolerances import ROUNDING

H100 = find("h100-sxm5")
SEVENTY = Weights(parameters=70e9, bytes_each=2, cached=0)  # the seeds' model: 70 billion parameters in BF16
TEN_MILLISECONDS = 33.5e9  # bytes that an H100 reads in them


def test_a_step_in_bf16_makes_one_operation_a_byte():
    assert 1.0 == roofline.intensity(SEVENTY, 1, 1)


def test_an_h100_computes_all_the_time_from_295_operations_a_byte():
    assert "295.2" == f"{roofline.ridge(H100):.1f}"


def test_a_step_uses_a_third_of_a_percent_of_an_h100():
    assert "0.34 %" == f"{100 * roofline.utilisation(H100, 1.0):.2f} %"


def test_reading_70_billion_parameters_takes_41_8_ms():
    assert 140e9 == SEVENTY.size
    assert "41.8 ms" == f"{1e3 * roofline.seconds(H100, SEVENTY, 1, 1):.1f} ms"


def test_one_sequence_gets_23_9_tokens_a_second_at_most():
    assert "23.9 tok/s" == f"{1 / roofline.seconds(H100, SEVENTY, 1, 1):.1f} tok/s"


def test_a_pass_is_free_to_widen_until_the_ridge_and_costs_by_the_token_beyond():
    one = roofline.seconds(H100, SEVENTY, 1, 1)

    assert one == roofline.seconds(H100, SEVENTY, 1, 295)
    assert one < roofline.seconds(H100, SEVENTY, 1, 296)
    assert roofline.seconds(H100, SEVENTY, 1, 600) == pytest.approx(
        2 * roofline.seconds(H100, SEVENTY, 1, 300), rel=ROUNDING
    )
    assert 1.0 == roofline.utilisation(H100, 296)


def test_64_rows_of_five_tokens_are_where_an_h100_begins_to_compute_all_the_time():
    assert 63 * 5 > roofline.ridge(H100) > 59 * 5
    assert roofline.seconds(H100, SEVENTY, 64, 5) > roofline.seconds(H100, SEVENTY, 64, 1)


def test_rows_read_the_weights_together_and_their_caches_apart():
    cached = Weights(parameters=0, bytes_each=2, cached=TEN_MILLISECONDS)

    assert 0.03 == pytest.approx(roofline.seconds(H100, cached, 3, 1), rel=ROUNDING)
    assert roofline.transferred(SEVENTY, 8) == SEVENTY.size


def test_costs_are_passes_of_target_and_draft():
    draft = Weights(parameters=1e9, bytes_each=2, cached=0)
    costs = RooflineCosts(device=H100, target=SEVENTY, draft_weights=draft)

    assert costs.step(4, 5) == roofline.seconds(H100, SEVENTY, 4, 5)
    assert costs.draft(4, 3) == 3 * roofline.seconds(H100, draft, 4, 1)
    assert 0.0 == RooflineCosts(device=H100, target=SEVENTY, draft_weights=None).draft(4, 3)
