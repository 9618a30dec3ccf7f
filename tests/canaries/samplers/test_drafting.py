import pytest
import torch
from trials import trial

from draftgate.canaries.errors import ContractBroken
from draftgate.canaries.samplers.drafting import Chains, Paired, Trees, inverted
from draftgate.canaries.samplers.faults import drafts, innocent
from draftgate.canaries.samplers.interface import Adapted, Drafted, Pair, check_inputs

ROWS = torch.tensor([0, 1, 1, 0])


def test_chains_are_drawn_from_the_laws_that_they_state():
    made = trial(innocent.token, "disjoint", "zeros").drafting
    inputs = made.draw(ROWS)

    assert isinstance(made, Chains)
    check_inputs(inputs)
    assert (inputs.draft_probs.gather(2, inputs.draft_tokens[..., None]) > 0).all()


def test_a_sampler_of_chosen_drafts_is_told_no_law():
    assert trial(Adapted(call=innocent.token, chosen=True)).drafting.draw(ROWS).draft_probs is None


def test_siblings_without_replacement_differ_and_say_so():
    made = trial(innocent.multi_draft_distinct, "near-ties").drafting
    x = made.draw(torch.zeros(500, dtype=torch.int64))

    assert isinstance(made, Trees)
    assert (x.draft_tokens[:, 0] != x.draft_tokens[:, 1]).all()
    assert (x.draft_probs[:, 1].gather(1, x.draft_tokens[:, :1]) == 0).all()
    assert (x.draft_tokens[:, 2] != x.draft_tokens[:, 3]).all()
    check_inputs(x)


def test_siblings_with_replacement_may_agree():
    x = trial(innocent.multi_draft, "near-ties").drafting.draw(torch.zeros(500, dtype=torch.int64))

    assert (x.draft_tokens[:, 0] == x.draft_tokens[:, 1]).any()


def test_a_pair_drafts_for_itself_and_its_tokens_are_kept_as_numbers():
    made = trial(drafts.honest_pair).drafting
    inputs = made.draw(ROWS)

    assert isinstance(made, Paired)
    check_inputs(inputs)
    assert (8,) == made.numbers.shape
    assert 0 == made.impossible


@pytest.mark.parametrize(
    ("tokens", "message"),
    [(torch.zeros((4, 1)), "returned shapes"), (torch.full((4,), 3), "token in row 0 is 3")],
)
def test_a_drafter_that_answers_badly_is_told_so(tokens, message):
    bad = Pair(lambda probs, generator: Drafted(tokens, probs), innocent.token)

    with pytest.raises(ContractBroken, match=message):
        trial(bad).drafting.draw(ROWS)


def test_a_token_of_mass_0_is_never_drawn():
    laws = torch.tensor([[0.0, 1.0, 0.0]], dtype=torch.float64).expand(1000, 3)

    assert {1} == set(inverted(laws, torch.Generator().manual_seed(0)).tolist())
