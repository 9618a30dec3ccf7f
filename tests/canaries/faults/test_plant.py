"""A plant is applied to strategies and changes them."""

from draftgate.canaries.faults.paged import KeepsTheFirstNodes
from draftgate.canaries.faults.plant import Plant
from draftgate.canaries.targets.strategies import Strategies


def test_a_plant_is_found_by_its_module_and_function():
    plant = Plant("F00", "a-plant", ".paged:keep_the_first_nodes", "what it does", "HOLD CORRECTNESS", "state_parity")

    assert KeepsTheFirstNodes is plant.apply(Strategies()).paged
    assert not plant.shared
