"""Plants that greedy answers show: known drafts drive the verifier into the corner where each must be seen."""

from dataclasses import replace

import pytest
from arms import context, draft, smoke
from plants import (
    BonusFromTheRowBefore,
    KeepsFirstUnseen,
    KeepsTheLikeliest,
    LateAnswer,
    NeverRollsBack,
    RollsBackTooFar,
    strategies,
)

from draftgate.canaries.checks.algebra import complaint
from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.faults import registry as faults
from draftgate.canaries.observations import variants
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.request import Generation
from draftgate.suites import loader

HONEST = {"the engine": Strategies(), "likeliest is kept": strategies(verifier=KeepsTheLikeliest())}  # greedy: the same
PLANTED = {
    "F16 first draft kept unseen": (strategies(verifier=KeepsFirstUnseen()), {"adversary"}),
    "F17 bonus from the row before": (strategies(verifier=BonusFromTheRowBefore()), {"oracle"}),
    "F43 rejected entry stays": (faults.find("F43").apply(Strategies()), {"adversary"}),
    "F44 one entry too many forgotten": (strategies(new_cache=RollsBackTooFar), {"adversary"}),
    "no rollback at all": (strategies(new_cache=NeverRollsBack), {"adversary"}),
}


def observed(arm, prompts=4, tokens=24):
    """The honest smoke run, but for its synthetic drafters, which run on this arm and on fewer canaries."""
    suite = loader.load("smoke")
    small = replace(suite, synthetic=replace(suite.synthetic, prompts=prompts, tokens=tokens))
    made = context(arm, small)
    observations = smoke().record.observations | {"synthetic": variants.observe_synthetic(made, 4)}
    (cell,) = (cell for cell in small.cells if cell.greedy)
    return Case(
        suite=small,
        cell=cell,
        header=smoke().record.header,
        observations=observations,
        ledger=ledger(small, "reference"),
    )


@pytest.mark.parametrize("honest", HONEST)
def test_an_honest_engine_keeps_its_tokens(honest):
    case = observed(draft(HONEST[honest]))

    assert Status.PASS is judge(CHECKS["synthetic"], case).status
    assert Status.PASS is judge(CHECKS["acceptance"], case).status


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_fault_is_seen_under_the_drafter_that_must_show_it(plant):
    planted, where = PLANTED[plant]
    case = observed(draft(planted))

    finding = judge(CHECKS["synthetic"], case)

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert where <= {one.partition(":")[0] for one in finding.reproduce}


def test_an_end_that_is_passed_over_inside_a_block_is_seen():
    """F37, under the oracle, whose blocks hold the end: the answer goes on, and tokens follow the end."""
    case = observed(draft(strategies(new_answer=LateAnswer)), prompts=14, tokens=40)

    finding = judge(CHECKS["synthetic"], case)
    answers = map(Generation.from_json, case.observations["synthetic"]["variants"]["oracle"]["generations"])
    complaints = {complaint(answer, 4, 40, case.header["eos"]) for answer in answers}

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert "tokens follow the end of the sequence" in complaints
