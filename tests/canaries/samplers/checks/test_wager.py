from trials import bundle, look

from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.samplers.checks.wager import Wager
from draftgate.canaries.samplers.faults import innocent, rules
from tolerances import SURE


def bet(sampler, calls):
    wager = Wager(bundle(), (30.0, 300.0))
    wager.look(look(sampler, calls=calls).seen)
    return wager.finding(SURE)


def test_a_gross_fault_is_held_after_few_draws():
    found = bet(rules.accept_everything, 2)

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)
    assert "stopped after 1,024 draws" in found.summary


def test_an_honest_sampler_wins_nothing_and_nothing_is_said():
    assert bet(innocent.token, 10) is None


def test_what_was_won_once_stays():
    wager = Wager(bundle(), (30.0, 300.0))
    wager.look(look(rules.accept_everything, calls=2).seen)
    wager.look(look(innocent.token, calls=2).seen)

    assert wager.finding(SURE)


def test_a_forbidden_token_is_proof_at_the_first_look():
    laws = bundle("zeros", "greedy")
    wager = Wager(laws, (30.0,))
    wager.look(look(rules.with_target(rules.unfiltered), "zeros", "greedy", calls=2).seen)

    assert "support" == wager.finding(SURE).check


def test_before_any_draw_nothing_is_found():
    assert Wager(bundle(), (30.0,)).finding(SURE) is None
