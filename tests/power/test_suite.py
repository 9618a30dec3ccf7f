"""The gate's own power: on the smoke suite every fault of the table is held, every look-alike passes."""

import pytest
from arms import smoke

from draftgate.canaries.contracts import Reason, Status, Verdict
from draftgate.canaries.faults import registry

FAULTS = [plant for plant in registry.PLANTS if plant.code.startswith("F")]
LOOK_ALIKES = [None, *(plant.code for plant in registry.PLANTS if plant.code.startswith("N"))]


@pytest.mark.parametrize("code", LOOK_ALIKES)
def test_an_honest_engine_passes(code):
    summary = smoke(code).summary

    assert (Verdict.PASS, []) == (summary["verdict"], summary["reasons"])


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.code)
def test_a_fault_is_held_for_its_reason_by_the_check_that_must_see_it(plant):
    summary = smoke(plant.code).summary

    assert Verdict.HOLD == summary["verdict"]
    assert Reason(plant.expected.removeprefix("HOLD ")) in {because["reason"] for because in summary["reasons"]}
    failed = {f["check"] for cell in summary["cells"] for f in cell["findings"] if f["status"] == Status.FAIL}
    assert plant.seen_by in failed


def test_a_fault_of_the_residual_is_invisible_where_tokens_are_greedy():
    """Greedy answers never draw from a residual: a gate without laws would let it pass."""
    (greedy,) = (cell for cell in smoke("F06").summary["cells"] if cell["name"] == "greedy-1")

    assert Verdict.PASS == greedy["verdict"]


def test_a_fault_of_the_cache_is_seen_by_several_checks():
    summary = smoke("F43").summary

    failed = {f["check"] for cell in summary["cells"] for f in cell["findings"] if f["status"] == Status.FAIL}
    assert {"exact_tokens", "synthetic", "law"} <= failed
