"""Plants that only a law shows: each is held by the law of a round, or by acceptance, on exactly known laws."""

from __future__ import annotations

import re
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
    DropsWeakDrafts,
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

from draftgate.canaries.checks.law import own_batch_tokens, row_draws, table_draws
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.faults import registry as faults
from draftgate.canaries.faults.innocent import ShorterDrafts
from draftgate.canaries.observations import laws, own_batch
from draftgate.canaries.observations.context import Context
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader
from draftgate.suites.suite import Cell, Suite

CELL = Cell(name="sampled", temperature=1.2, top_k=4, batch=4, prompts=4, tokens=20, repeats=1)
K = 3
EFFECT = 0.08  # between smoke, which one u for all positions slips by, and core
DEEP = 5  # a draft longer than the table judges: recorded rows must see its last nodes


@cache
def suite() -> Suite:
    """The smoke suite's numbers, a little finer, on one sampled cell whose filter bites."""
    smoke = loader.load("smoke")
    design = replace(smoke.design, law_effect=EFFECT)
    return replace(smoke, canaries=observed.CANARIES, cells=(CELL,), design=design)


@cache
def recorded():
    """Rows of two made-up models; which ones does not matter to a verifier."""
    rng, length = np.random.default_rng(0), laws.spanned(DEEP) + 1
    rows = {arm: np.log(rng.dirichlet(np.full(8, 0.7), size=length)).tolist() for arm in ("target", "draft")}
    return rows | {"canary": "prose-1"}


@cache
def draws(k: int) -> tuple[int, int, int]:
    """As many as the suite's effects ask for: on the table, on rows, and tokens at the cell's own batch."""
    made, shares = context(arm(Strategies(), k=k)), observed.case({}, "sampled", of=suite())
    return (
        table_draws(made, CELL, shares.share("law", "table")),
        row_draws(made, CELL, recorded(), shares.share("law", "rows")),
        own_batch_tokens(suite(), shares.share("law", "own batch")),
    )


def context(candidate: ReferenceTarget) -> Context:
    """What laws are made from, with the arm that is looked at."""
    return replace(observed.context_of(suite()), candidate=candidate)


def findings(arm: ReferenceTarget):
    """What law and acceptance say of an arm."""
    made, k = context(arm), arm.draft_length
    observations = {
        "sampled/pairs": observed.pairs(CELL),
        "recorded": recorded(),
        "sampled/table": laws.observe_table(made, CELL, arm.variant("draft", k=K), draws(k)[0]),
        "sampled/own_batch": own_batch.observe(made, CELL, arm, draws(k)[2]),
        "sampled/rows": laws.observe_rows(made, CELL, arm, recorded(), draws(k)[1]),
    }
    return [observed.judged(check, observations, "sampled", of=suite(), k=k) for check in ("law", "acceptance")]


def arm(parts: Strategies, kind: type[ReferenceTarget] = ReferenceTarget, k: int = K) -> ReferenceTarget:
    """An arm without models: the observation brings its own."""
    return kind(name="draft", model=None, method="draft", options={"k": k}, strategies=parts)


@pytest.mark.parametrize(
    "honest",
    [
        arm(Strategies()),
        arm(strategies(verifier=Walk())),
        arm(faults.find("N06").apply(Strategies())),
        arm(Strategies(), drafting_with(ShorterDrafts)),
    ],
    ids=["engine", "walk", "other order", "shorter drafts"],
)
def test_an_honest_engine_passes(honest):
    assert [Status.PASS, Status.PASS] == [finding.status for finding in findings(honest)]


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
    "weak drafts dropped after they were drawn": DropsWeakDrafts,
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


class KeepsTheLastNodeUnseen(Walk):
    """Honest but at the deepest node, which the joint law on the table never meets."""

    def keeps(self, child, u, q, p):
        return u * q < p or child == DEEP


def test_an_honest_engine_with_long_drafts_passes():
    assert [Status.PASS, Status.PASS] == [finding.status for finding in findings(arm(Strategies(), k=DEEP))]


def test_a_fault_at_the_deepest_node_alone_is_held():
    law, _ = findings(arm(strategies(verifier=KeepsTheLastNodeUnseen()), k=DEEP))

    assert (Status.FAIL, Reason.DISTRIBUTION) == (law.status, law.reason)


def test_a_fault_below_the_declared_effect_may_pass_and_the_findings_say_so():
    """Acceptance five percent too kind moves the law by about 0.02: smoke promises less, and core's effect is 0.03."""
    law, acceptance = findings(arm(strategies(verifier=Scaled(1.05))))

    assert (Status.PASS, Status.PASS) == (law.status, acceptance.status)
    assert float(re.findall(r"variation of ([0-9.]+)", law.seen)[0]) > 0.03
    assert float(acceptance.seen.rpartition(" ")[2]) > 0.03
