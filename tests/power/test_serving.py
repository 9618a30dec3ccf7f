"""Faults of cache and batch: each is held by the canary that must see it, and look-alikes pass all of them."""

import pytest
from loads import found, honest, made, observed, on_cache

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.faults import loaded
from draftgate.canaries.observations.serving.table import OBSERVED
from draftgate.canaries.targets.strategies import Strategies

FAULTS = [plant for plant in loaded.PLANTS if plant.code.startswith("F")]
LOOK_ALIKES = [plant for plant in loaded.PLANTS if plant.code.startswith("N")]


@pytest.mark.parametrize("name", OBSERVED)
def test_an_honest_engine_passes(name):
    finding = found(name, {name: honest(name)})

    assert (Status.PASS, None) == (finding.status, finding.reason), finding.summary


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.code)
def test_a_fault_is_held_for_its_reason_by_the_check_that_must_see_it(plant):
    seen = observed(made(plant.apply(Strategies())), plant.seen_by)

    finding = found(plant.seen_by, {plant.seen_by: seen})

    assert Status.FAIL is finding.status, finding.summary
    assert Reason(plant.expected.removeprefix("HOLD ")) is finding.reason, finding.summary


@pytest.mark.parametrize("plant", LOOK_ALIKES, ids=lambda plant: plant.code)
@pytest.mark.parametrize("name", ["neighbours", "traffic", "preemption", "state_parity"])
def test_a_look_alike_passes(plant, name):
    finding = found(name, {name: observed(made(plant.apply(Strategies())), name)})

    assert Status.PASS is finding.status, finding.summary


def test_in_few_bits_an_honest_cache_passes_and_a_forgetful_window_is_held():
    """Codes are one step off at times: that is a prefill's too, a wrong entry is not."""
    plant = next(plant for plant in FAULTS if plant.code == "F47")
    good, bad = (
        found("state_parity", {"state_parity": observed(on_cache(made(parts), "int4"), "state_parity")})
        for parts in (Strategies(), plant.apply(Strategies()))
    )

    assert Status.PASS is good.status, good.summary
    assert (Status.FAIL, Reason.CORRECTNESS) == (bad.status, bad.reason), bad.summary
