"""Plants that only a law shows: each is held by the law of a round, or by acceptance, on exactly known laws."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import observed
import pytest
from plants import (
    BonusFromTheRowBefore,
    Chance,
    ClaimsAnotherTemperature,
    ClaimsUnfiltered,
    DrawsNothing,
    KeepsFirstUnseen,
    KeepsTheLikeliest,
    NeighboursLast,
    ResidualOfDistances,
    RollsBackTooFar,
    Scaled,
    Walk,
    accept_uniform_again,
    draft_uniforms_again,
    drafting_with,
    every_round_alike,
    never_random,
    one_for_all_positions,
    one_seed_for_all_rows,
    strategies,
)

from draftgate.canaries.checks.law import row_draws, table_draws
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.faults import registry as faults
from draftgate.canaries.observations import laws
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from draftgate.suites.suite import Cell, Suite

CELL = Cell(name="sampled", temperature=1.2, top_k=4, batch=4, prompts=4, tokens=20, repeats=1)
K = 3


@cache
def suite() -> Suite:
    """The smoke suite's own numbers on one sampled cell, whose filter bites."""
    return replace(loader.load("smoke"), canaries=observed.CANARIES, cells=(CELL,))


@cache
def recorded():
    """Rows of two made-up models; which ones does not matter to a verifier."""
    rng = np.random.default_rng(0)
    rows = {arm: np.log(rng.dirichlet(np.full(8, 0.7), size=K + 2)).tolist() for arm in ("target", "draft")}
    return rows | {"canary": "prose-1"}


@cache
def draws() -> tuple[int, int]:
    """As many as the suite's effect asks for: on the table, and on rows."""
    made, share = observed.context_of(suite()), observed.case({}, "sampled", of=suite()).share("law", "table")
    return (
        table_draws(made, CELL, share),
        row_draws(made, CELL, recorded(), share),
    )


def findings(arm: ReferenceTarget):
    """What law and acceptance say of an arm."""
    made = observed.context_of(suite())
    observations = {
        "sampled/pairs": observed.pairs(CELL),
        "recorded": recorded(),
        "sampled/table": laws.observe_table(made, CELL, arm, draws()[0]),
        "sampled/rows": laws.observe_rows(made, CELL, arm, recorded(), draws()[1]),
    }
    return [observed.judged(check, observations, "sampled", of=suite(), k=K) for check in ("law", "acceptance")]


def arm(parts: Strategies, kind: type[ReferenceTarget] = ReferenceTarget) -> ReferenceTarget:
    """An arm without models: the observation brings its own."""
    return kind(name="draft", model=None, method="draft", options={"k": K}, strategies=parts)


@pytest.mark.parametrize(
    "honest",
    [Strategies(), strategies(verifier=Walk()), faults.find("N06").apply(Strategies())],
    ids=["engine", "walk", "other order"],
)
def test_an_honest_engine_passes(honest):
    assert [Status.PASS, Status.PASS] == [finding.status for finding in findings(arm(honest))]


VERIFIERS = {
    "F16 first draft kept unseen": KeepsFirstUnseen(),
    "F17 bonus from the row before": BonusFromTheRowBefore(),
    "residual of distances": ResidualOfDistances(),
    "half too kind": Scaled(1.5),
    "the likeliest is kept": KeepsTheLikeliest(),
    "the neighbour's last token": NeighboursLast(),
}
CHANCES = {
    "u is 0": never_random,
    "one u for all positions": one_for_all_positions,
    "the draft's u again": draft_uniforms_again,
    "the acceptance's u again": accept_uniform_again,
    "one seed for all rows": one_seed_for_all_rows,
    "every round alike": every_round_alike,  # seen because a round that rejects early is followed by another
}
CACHES = {"F44 one too many": RollsBackTooFar}
DRAFTERS = {
    "F02 q unfiltered": ClaimsUnfiltered,
    "F03 draft taken as drawn": DrawsNothing,
    "q of another temperature": ClaimsAnotherTemperature,
}
PLANTED = (
    {name: arm(strategies(verifier=verifier)) for name, verifier in VERIFIERS.items()}
    | {name: arm(strategies(randomness=Chance(change))) for name, change in CHANCES.items()}
    | {name: arm(strategies(new_cache=cache_)) for name, cache_ in CACHES.items()}
    | {name: arm(Strategies(), drafting_with(drafter)) for name, drafter in DRAFTERS.items()}
    | {code: arm(faults.find(code).apply(Strategies())) for code in ("F06", "F43")}
)


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_fault_is_held(plant):
    found = findings(PLANTED[plant])

    assert Reason.DISTRIBUTION in {finding.reason for finding in found if finding.status is Status.FAIL}


def test_a_fault_below_the_declared_effect_may_pass_and_the_findings_say_so():
    """Acceptance five percent too kind moves the law by about 0.02: smoke promises less, and core's effect is 0.03."""
    law, acceptance = findings(arm(strategies(verifier=Scaled(1.05))))

    assert (Status.PASS, Status.PASS) == (law.status, acceptance.status)
    assert float(law.seen.rpartition(" ")[2]) > 0.03
    assert float(acceptance.seen.rpartition(" ")[2]) > 0.03
