"""Costs between what was measured lie on straight lines."""

import pytest

from draftgate.engine.costs.table import Grid, MeasuredCosts, along
from draftgate.engine.errors import EngineError
from tolerances import ROUNDING

STEPS = {(1, 1): 1.0, (1, 5): 3.0, (4, 1): 2.0, (4, 5): 8.0}


def test_what_was_measured_is_what_it_was():
    assert all(Grid(STEPS).at(*place) == seconds for place, seconds in STEPS.items())


def test_between_it_lies_on_straight_lines_both_ways():
    assert 2.0 == Grid(STEPS).at(1, 3)
    assert 5.0 == Grid(STEPS).at(4, 3)
    assert 3.0 == pytest.approx(Grid(STEPS).at(2, 3), rel=ROUNDING)


def test_beyond_it_goes_on_as_it_did():
    assert 4.0 == pytest.approx(Grid(STEPS).at(1, 7), rel=ROUNDING)
    assert 4.0 == pytest.approx(along([1, 2, 4], [1.0, 1.0, 2.0], 8), rel=ROUNDING)
    assert 3.0 == along([7], [3.0], 1)


def test_a_table_with_holes_is_refused():
    holed = {place: seconds for place, seconds in STEPS.items() if place != (4, 5)}
    for known in (holed, {}):
        with pytest.raises(EngineError, match="measure every batch at every width"):
            Grid(known)


def test_a_draft_costs_as_many_steps_as_it_has_tokens():
    costs = MeasuredCosts(STEPS, {(1, 1): 0.1, (4, 1): 0.4})

    assert 3.0 == costs.step(1, 5) == costs.step(1, 5)
    assert 0.6 == pytest.approx(costs.draft(2, 3), rel=ROUNDING)
    assert 0.0 == MeasuredCosts(STEPS, {}).draft(2, 3)
