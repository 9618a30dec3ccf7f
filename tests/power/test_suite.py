"""The gate's own power: on the smoke suite every fault of the table is held, every look-alike passes."""

from dataclasses import replace

import pytest
from arms import context, draft, smoke

from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.law import row_draws, table_draws
from draftgate.canaries.checks.registry import CHECKS, ledger
from draftgate.canaries.contracts import Reason, Status, Verdict
from draftgate.canaries.faults import registry
from draftgate.canaries.observations import laws
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader

FINE = {"F02"}  # bends laws by less than smoke's effect: the next test but one looks at it with core's numbers
REQUIRED = loader.load("smoke").required["reference"]
SEEN = {*REQUIRED.greedy, *REQUIRED.sampled}  # a fault that another check sees is planted in a suite that requires it
FAULTS = [p for p in registry.PLANTS if p.code.startswith("F") and p.code not in FINE and p.seen_by in SEEN]
LOOK_ALIKES = [None, *(plant.code for plant in registry.PLANTS if plant.code.startswith("N"))]


@pytest.mark.parametrize("code", LOOK_ALIKES)
def test_an_honest_engine_passes(code):
    summary = smoke(code).summary

    assert (Verdict.PASS, []) == (summary["verdict"], summary["reasons"])


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.code)
def test_a_fault_is_held_for_its_reason_by_the_check_that_must_see_it(plant):
    summary = smoke(plant.code).summary

    assert Verdict.HOLD == summary["verdict"]
    assert Reason(plant.expected.removeprefix("HOLD ")) in {because["reason"] for because in summary["reasons"]}
    failed = {f["check"] for cell in summary["cells"] for f in cell["findings"] if f["status"] == Status.FAIL}
    assert plant.seen_by in failed


def test_a_fault_of_the_residual_is_invisible_where_tokens_are_greedy():
    """Greedy answers never draw from a residual: a gate without laws would let it pass."""
    (greedy,) = (cell for cell in smoke("F06").summary["cells"] if cell["name"] == "greedy-1")

    assert Verdict.PASS == greedy["verdict"]


def test_a_fault_of_the_cache_is_seen_by_several_checks():
    summary = smoke("F43").summary

    failed = {f["check"] for cell in summary["cells"] for f in cell["findings"] if f["status"] == Status.FAIL}
    assert {"exact_tokens", "synthetic", "law"} <= failed


def held_by_law(code, cell_name):
    """What the law says of a planted engine in one cell of core, drawn as often as core draws."""
    suite = loader.load("core")
    cell = next(one for one in suite.cells if one.name == cell_name)
    planted = draft(registry.find(code).apply(Strategies()) if code else Strategies())
    made = context(planted, suite)
    recorded = laws.record_rows(made, laws.spanned(planted.draft_length) + 1)
    header = {"candidate": planted.identity(), "seed": made.seed}
    case = Case(suite=suite, cell=cell, header=header, observations={}, ledger=ledger(suite, "reference"))
    table = table_draws(made, cell, case.share("law", "table"))
    observations = {
        "recorded": recorded,
        f"{cell_name}/table": laws.observe_table(made, cell, planted.variant("draft", k=3), table),
        f"{cell_name}/rows": laws.observe_rows(
            made, cell, planted, recorded, row_draws(made, cell, recorded, case.share("law", "rows"))
        ),
    }
    return CHECKS["law"].judge(replace(case, observations=observations)).status


@pytest.mark.parametrize(("code", "status"), [(None, Status.PASS), ("F02", Status.FAIL)])
def test_a_fault_too_fine_for_smoke_is_held_on_core(code, status):
    assert status is held_by_law(code, "topk-8")
