"""What a single value may be, and what it may not."""

import math

import pytest

from draftgate.canaries.checks import values

FITS = {
    values.integer: (0, -3, 2**53),
    values.count: (0, 7),
    values.above: (1,),
    values.amount: (0, 0.5),
    values.mass: (None, 0.0, 1.0),
    values.distance: (None, 4.5),
    values.log_mass: (0.0, -9999.0),
    values.told: (None, -0.5),
    values.text: ("", "a"),
    values.token: (0, " a"),
    values.mark: (0, 1),
    values.ending: ("eos", "stop", "length"),
    values.anything: (None, {}),
}
NEVER = {
    values.integer: (True, 0.5, 10**400, None),
    values.count: (-1, True, 1.0),
    values.above: (0,),
    values.amount: (-1, math.inf, math.nan, None, "x"),
    values.mass: (1.1, -0.1, math.nan),
    values.distance: (-0.5, math.inf),
    values.log_mass: (0.1, -math.inf, math.nan, None),
    values.told: (0.1, "x", math.nan),
    values.text: (None, 1),
    values.token: (-1, None, 0.5),
    values.mark: (2, True, None),
    values.ending: ("tool_calls", None),
}


@pytest.mark.parametrize("question", FITS, ids=lambda question: question.__name__)
def test_what_may_stand_there_may(question):
    assert all(map(question, FITS[question]))


@pytest.mark.parametrize("question", NEVER, ids=lambda question: question.__name__)
def test_what_may_not_may_not(question):
    assert not any(map(question, NEVER[question]))
