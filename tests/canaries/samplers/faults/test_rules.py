import pytest
from trials import RATES, bundle, trial

from draftgate.canaries.errors import ContractBroken
from draftgate.canaries.samplers.checks.wager import Wager
from draftgate.canaries.samplers.faults import innocent, registry, rules

LAWS = ("zipf", "near-ties", "zeros", "disjoint", "sure", "chosen", "same", "tiny")
QUIET = {"writes-to-target"}  # seen by the contract
MINE = [row for row in registry.FAULTS if getattr(row.make(), "__module__", "").endswith("faults.rules")]


@pytest.mark.parametrize("row", [row for row in MINE if row.name not in QUIET], ids=lambda row: row.name)
def test_every_slip_in_the_rule_moves_the_law(row):
    made = trial(row.make(), *LAWS, batch=4096)
    bet = Wager(made.bundle, (30.0, 300.0, 3000.0))
    for _ in range(6):
        made.run(2**_ * 4)
        bet.look(made.seen)
        if bet.finding(RATES.false_alarm):
            return
    raise AssertionError(f"{row.name} was not seen after {made.calls * made.rows} rounds")


def test_there_are_slips_to_see():
    assert len(MINE) > 15


def test_a_write_is_refused():
    with pytest.raises(ContractBroken, match="wrote to target_probs"):
        trial(rules.writes_to_target).run(1)


def test_the_honest_rule_is_not_seen():
    made = trial(innocent.token, *LAWS, batch=4096)
    bet = Wager(bundle(*LAWS), (30.0, 300.0, 3000.0))
    made.run(30)
    bet.look(made.seen)

    assert bet.finding(RATES.false_alarm) is None
