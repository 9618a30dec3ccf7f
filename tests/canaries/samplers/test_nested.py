import torch

from draftgate.canaries.samplers.nested import mapped, tensors

ONE, TWO = torch.ones(1), torch.zeros(2)


def test_tensors_are_found_however_deep():
    assert [ONE, TWO] == tensors((ONE, {"a": [3, "b", (TWO,)]}))


def test_each_is_changed_where_it_stands():
    assert (3, [1, (2, None)]) == mapped((3, [ONE, (TWO, None)]), lambda x: x.numel())
