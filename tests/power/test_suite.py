"""The gate's own power: on the smoke suite every fault of the table is held, every look-alike passes."""

from dataclasses import replace

import pytest
from arms import context, draft, smoke
from plants import ResidualOfPAt

from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.law import own_batch_tokens, row_draws, table_draws
from draftgate.canaries.checks.registry import CHECKS, ledger
from draftgate.canaries.contracts import Reason, Status, Verdict
from draftgate.canaries.faults import registry
from draftgate.canaries.observations import laws, own_batch, pairs, replays
from draftgate.canaries.targets.strategies import Strategies
from draftgate.suites import loader

FINE = {"F02", "F53"}  # less than smoke's effects, or than its few near ties: looked at with core's numbers and stories
SESSIONS = {"conversation"}  # smoke plays few dialogues or none: test_sessions.py has more of them
HERE = [plant for plant in registry.PLANTS if not plant.suite]  # the others show under load: test_serving.py
FAULTS = [p for p in HERE if p.code.startswith("F") and p.code not in FINE and p.seen_by not in SESSIONS]
LOOK_ALIKES = [None, *(plant.code for plant in HERE if plant.code.startswith("N"))]


@pytest.mark.parametrize("code", LOOK_ALIKES)
def test_an_honest_engine_passes(code):
    summary = smoke(code).summary

    assert (Verdict.PASS, []) == (summary["verdict"], summary["reasons"])


def test_coarse_numbers_in_both_arms_are_innocent():
    """bfloat16 moves logits by a thousand times more than float32: it is judged by its own noise, and told so."""
    made = smoke(dtype="bfloat16")

    assert (Verdict.PASS, []) == (made.summary["verdict"], made.summary["reasons"])
    assert (
        "bfloat16"
        == made.record.header["baseline"]["model"]["dtype"]
        == made.record.header["candidate"]["draft"]["dtype"]
    )
    assert any("of those decided by more than" in row["seen"] for row in made.summary["seen"])


def test_a_fault_shows_through_the_noise_of_coarse_numbers():
    assert Reason.CORRECTNESS in {because["reason"] for because in smoke("F43", "bfloat16").summary["reasons"]}


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


def told_of_stories(code):
    """What exact_tokens says of core's stories, the answers that have near ties, with a plant where it belongs."""
    plant, whole = registry.find(code), loader.load("core")
    suite = replace(whole, canaries=whole.of_kind("prose"), census=None)
    cell = replace(next(one for one in suite.cells if one.name == "greedy-1"), prompts=len(suite.canaries), again=0)
    candidate = draft(plant.apply(Strategies()))
    made = context(candidate, suite)
    if plant.shared:
        made = replace(made, baseline=replace(made.baseline, model=candidate.model))
    header = {"candidate": candidate.identity(), "seed": made.seed, "eos": list(made.baseline.eos)}
    seen = {"greedy-1/pairs": pairs.observe(made, cell)}
    seen["greedy-1/replays"] = replays.observe(made, cell, seen["greedy-1/pairs"])
    case = Case(suite=suite, cell=cell, header=header, observations=seen, ledger=ledger(whole, "reference"))
    return CHECKS["exact_tokens"].judge(case)


def test_noise_in_both_arms_forks_stories_and_each_fork_is_explained():
    figures = told_of_stories("N03").figures

    assert figures["forks"] > 0
    assert figures["unexplained"] == 0


def test_the_same_noise_in_the_candidate_alone_is_explained_by_nothing():
    finding = told_of_stories("F53")

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)


def held_by_law(strategies, cell_name):
    """What the law says of a planted engine in one cell of core, drawn as often as core draws."""
    suite = loader.load("core")
    cell = next(one for one in suite.cells if one.name == cell_name)
    planted = draft(strategies)
    made = context(planted, suite)
    recorded = laws.record_rows(made, laws.spanned(planted.draft_length) + 1)
    header = {"candidate": planted.identity(), "seed": made.seed}
    case = Case(suite=suite, cell=cell, header=header, observations={}, ledger=ledger(suite, "reference"))
    short, law_cell = planted.variant("draft", k=3), suite.law_cell(cell)
    table = table_draws(made, law_cell, case.law.share("law", "table"))
    own = own_batch_tokens(suite, case.share("law", "own batch"))
    observations = {
        "recorded": recorded,
        f"{law_cell.name}/table": laws.observe_table(made, law_cell, short, table),
        f"{cell_name}/own_batch": own_batch.observe(made, cell, planted, own),
        f"{law_cell.name}/rows": laws.observe_rows(
            made, law_cell, planted, recorded, row_draws(made, law_cell, recorded, case.law.share("law", "rows"))
        ),
    }
    return CHECKS["law"].judge(replace(case, observations=observations)).status


@pytest.mark.parametrize(("code", "status"), [(None, Status.PASS), ("F02", Status.FAIL)])
def test_a_fault_too_fine_for_smoke_is_held_on_core(code, status):
    assert status is held_by_law(registry.find(code).apply(Strategies()) if code else Strategies(), "topk-8")


@pytest.mark.parametrize("rows", [1, 8])
@pytest.mark.parametrize("cell_name", ["topk-1", "topk-8", "topp-1", "topp-8"])
def test_a_fault_of_one_batch_size_is_held_where_that_many_rows_are_decoded(cell_name, rows):
    held = cell_name.endswith(str(rows))

    assert (Status.FAIL if held else Status.PASS) is held_by_law(Strategies(verifier=ResidualOfPAt(rows)), cell_name)
