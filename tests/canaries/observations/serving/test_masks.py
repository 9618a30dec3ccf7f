"""One token of a tree is changed at a time."""

from loads import honest, made, observed, suite

from draftgate.canaries.faults.masks import let_siblings_attend
from draftgate.canaries.observations.serving.masks import SHAPES
from draftgate.canaries.targets.strategies import Strategies


def test_a_change_moves_what_is_behind_it_and_nothing_else():
    found = honest("mask_probe")

    assert list(SHAPES) == list(found["changes"])
    assert suite().serving.places == found["places"]
    assert all(one["moved"] < 1e-3 and one["reached"] > 1 for one in found["changes"].values())


def test_siblings_that_see_one_another_are_moved():
    found = observed(made(let_siblings_attend(Strategies())), "mask_probe")["changes"]

    assert found["sibling"]["moved"] > 0.1
    assert found["later in a chain"]["moved"] < 1e-3
