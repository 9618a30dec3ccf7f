import pytest
import torch
from trials import RATES, trial

from draftgate.canaries.samplers.checks.wager import Wager
from draftgate.canaries.samplers.faults import drafts, innocent
from draftgate.canaries.samplers.interface import Pair

PROBS = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).expand(400, 4)


def seen(sampler, calls):
    made = trial(sampler, "zipf", "near-ties", "same", "chosen")
    made.run(calls)
    bet = Wager(made.bundle, (30.0, 300.0))
    bet.look(made.seen)
    return bet.finding(RATES.false_alarm) is not None


@pytest.mark.parametrize("drafter", [drafts.drawn_filtered, drafts.likeliest])
def test_a_draft_from_another_law_moves_what_is_emitted(drafter):
    assert seen(Pair(drafter, innocent.token), 20)


def test_noise_that_is_used_twice_moves_what_is_emitted():
    assert seen(drafts.reused_noise(), 20)
    assert not seen(drafts.honest_pair, 20)


def test_rounding_to_bfloat16_changes_few_draws():
    one, other = (
        draw(PROBS, torch.Generator().manual_seed(0)).tokens for draw in (drafts.drawn, drafts.drawn_in_bfloat16)
    )

    assert (one != other).float().mean() < 0.02


def test_what_is_cut_off_is_never_drawn():
    assert 3 not in drafts.drawn_filtered(PROBS, torch.Generator().manual_seed(0)).tokens


def test_a_tree_walked_against_the_whole_target_moves_what_is_emitted():
    assert seen(drafts.naive_tree, 6)
    assert not seen(drafts.honest_tree, 6)
