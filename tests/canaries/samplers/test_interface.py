import numpy as np
import pytest
import torch

from draftgate.canaries.errors import ContractBroken
from draftgate.canaries.samplers.interface import Inputs, check_inputs, checked_tokens

B, K, V = 2, 2, 3


def inputs(**changed):
    given = {
        "target_probs": torch.full((B, K + 1, V), 1 / V),
        "draft_probs": torch.full((B, K, V), 1 / V),
        "draft_tokens": torch.zeros((B, K), dtype=torch.int64),
    }
    return Inputs(**{**given, **changed})


def spoiled(row, place, values):
    laws = torch.full((B, K + 1, V), 1 / V)
    laws[row, place] = torch.tensor(values)
    return laws


def test_laws_and_tokens_that_fit_are_taken():
    check_inputs(inputs())
    check_inputs(inputs(draft_probs=None))


@pytest.mark.parametrize("values", [[0.5, 0.2, 0.2], [0.5, float("nan"), 0.5], [1.5, -0.5, 0.0]])
def test_what_is_no_law_is_refused_with_its_place(values):
    with pytest.raises(ValueError, match=r"target_probs\[1, 2\] is no law"):
        check_inputs(inputs(target_probs=spoiled(1, 2, values)))


def test_a_draft_token_outside_the_vocabulary_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"draft_tokens\[0, 1\] is 3"):
        check_inputs(inputs(draft_tokens=torch.tensor([[0, 3], [0, 0]])))


@pytest.mark.parametrize("changed", [{"draft_probs": torch.ones(B, K, V + 1)}, {"draft_tokens": torch.zeros(B, K + 1)}])
def test_shapes_that_do_not_fit_are_refused(changed):
    with pytest.raises(ValueError, match="has shape"):
        check_inputs(inputs(**changed))


def test_an_answer_that_fits_is_taken_as_int64():
    answer = checked_tokens(torch.tensor([[0, 1, 2], [2, -1, -1]], dtype=torch.int32), (B, K + 1), V)

    assert torch.int64 == answer.dtype
    assert [[0, 1, 2], [2, -1, -1]] == answer.tolist()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[0, 1, 2], [0, 1, 2]], "returned list"),
        (torch.zeros(B, K, dtype=torch.int64), r"must be \(B, K \+ 1\)"),
        (torch.zeros(B, K + 1), "torch.float32"),
        (torch.tensor([[0, 1, 2], [0, 3, -1]]), r"token \[1, 1\] is 3"),
        (torch.tensor([[0, 1, -2], [0, 1, -1]]), r"token \[0, 2\] is -2"),
        (torch.tensor([[0, 1, 2], [0, -1, 1]]), "row 1 of the answer goes on after -1"),
        (torch.tensor([[0, 1, 2], [-1, -1, -1]]), "row 1 of the answer emits nothing"),
    ],
)
def test_an_answer_that_no_sampler_may_give_is_refused_with_its_place(answer, message):
    with pytest.raises(ContractBroken, match=message):
        checked_tokens(answer, (B, K + 1), V)


def test_a_write_to_an_input_is_counted():
    given = inputs()
    before = given.versions()
    given.copied().target_probs.zero_()

    assert before == given.versions()
    given.target_probs[0, 0, 0] = 1.0

    assert before != given.versions()


def test_an_answer_is_kept_when_the_sampler_uses_its_memory_again():
    """Else two calls that share one buffer would always look the same."""
    buffer = torch.zeros(B, K, dtype=torch.int64)
    found = checked_tokens(buffer, (B, K), V)
    buffer.fill_(1)

    assert found.eq(0).all()


@pytest.mark.parametrize(
    ("answer", "told"),
    [(None, "without return"), ((1, 2), "the tokens alone"), ([1], "--as per-sequence"), (np.ones(2), "--as numpy")],
)
def test_what_is_no_tensor_is_told_with_what_would_fit(answer, told):
    with pytest.raises(ContractBroken, match=told):
        checked_tokens(answer, (1, 2), 3)
