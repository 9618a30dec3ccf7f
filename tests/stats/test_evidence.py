import json
import math

import pytest

from draftgate.stats.evidence import Evidence


def evidence(**changes):
    fields = {"test": "t", "hypothesis": "it rains", "n": 10, "statistic": 1.5, "p_value": 0.25}
    return Evidence(**{**fields, **changes})


def test_evidence_survives_json():
    said = evidence(details={"cells": 4.0})

    assert said == Evidence.from_json(json.loads(json.dumps(said.to_json(), allow_nan=False)))


@pytest.mark.parametrize("odd", [math.inf, -math.inf])
def test_an_infinite_statistic_survives_strict_json(odd):
    text = json.dumps(evidence(statistic=odd).to_json(), allow_nan=False)

    assert odd == Evidence.from_json(json.loads(text)).statistic


def test_a_nan_survives_strict_json():
    text = json.dumps(evidence(statistic=math.nan, p_value=math.nan, n=0).to_json(), allow_nan=False)

    assert math.isnan(Evidence.from_json(json.loads(text)).p_value)


@pytest.mark.parametrize("p_value", [-0.1, 1.1, math.inf])
def test_a_p_value_outside_0_to_1_is_refused(p_value):
    with pytest.raises(ValueError, match="must lie in"):
        evidence(p_value=p_value)


def test_a_negative_number_of_draws_is_refused():
    with pytest.raises(ValueError, match="cannot be negative"):
        evidence(n=-1)


def test_evidence_cannot_be_changed_after_the_fact():
    with pytest.raises(AttributeError):
        evidence().p_value = 0.9
