"""The law of a round: counts that follow it pass, counts that do not fail, and too few say nothing."""

from dataclasses import replace

import numpy as np
import pytest
from observed import SAMPLED, case, judged, pairs, plain_answers, record, spoiled, suite

from draftgate.canaries.checks.law import LawOfARound, Rates, compare, draws_needed
from draftgate.canaries.contracts import Reason, Status
from draftgate.stats.decision import Decision

RATES = Rates(share=1e-7, miss=1e-3, effect=0.1)
LAW = np.array([0.5, 0.3, 0.2, 0.0])


def moved(counts, draws):
    """`draws` draws of the commonest outcome were the rarest one's."""
    common, rare = int(np.argmax(counts)), int(np.argmin(counts))
    counts[common] -= draws
    counts[rare] += draws


def test_counts_that_follow_the_law_pass():
    assert judged("law", record(), "sampled").status is Status.PASS


@pytest.mark.parametrize(
    "where",
    [
        lambda o: o["sampled/table"]["first"],
        lambda o: o["sampled/table"]["counts"],
        lambda o: o["sampled/rows"]["counts"][0],
        lambda o: o["sampled/rows"]["counts"][1],
    ],
    ids=["first", "table", "row 0", "row 1"],
)
def test_each_law_is_seen_when_it_is_off(where):
    finding = judged("law", spoiled(lambda o: moved(where(o), 2500)), "sampled")

    assert (Status.FAIL, Reason.DISTRIBUTION) == (finding.status, finding.reason)


def shortened(observations):
    """One answer on the table was cut, and is missing from its counts."""
    table = observations["sampled/table"]
    table["short"] += 1
    for counts in (table["first"], table["counts"]):
        counts[int(np.argmax(counts))] -= 1


def test_an_answer_that_nothing_ended_is_a_fault():
    finding = judged("law", spoiled(shortened), "sampled")

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)


def test_too_few_draws_are_incomplete():
    of = replace(suite(), design=replace(suite().design, law_effect=0.001))

    finding = judged("law", record(), "sampled", of=of)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


@pytest.mark.parametrize("name", ["sampled/table", "sampled/rows", "sampled/own_batch", "recorded"])
def test_a_law_that_was_not_drawn_from_is_incomplete(name):
    assert judged("law", spoiled(lambda o: o.pop(name)), "sampled").status is Status.INCONCLUSIVE


def test_no_draws_are_incomplete():
    def change(observations):
        rows = observations["sampled/rows"]
        rows.update(draws=0, counts=[[0] * len(counts) for counts in rows["counts"]])

    assert judged("law", spoiled(change), "sampled").status is Status.INCONCLUSIVE


def test_one_outcome_that_cannot_be_is_proof():
    assert compare([5000, 3000, 2000, 0], LAW, "h", RATES).decision is Decision.PASS
    assert compare([5, 3, 2, 1], LAW, "h", RATES).decision is Decision.FAIL


def test_a_point_mass_needs_draws_to_pass():
    point = np.array([0.0, 1.0])

    assert compare([0, 1000], point, "h", RATES).decision is Decision.PASS
    assert compare([0, 2], point, "h", RATES).decision is Decision.INCONCLUSIVE
    assert compare([1, 1000], point, "h", RATES).decision is Decision.FAIL


def test_a_law_with_one_thick_cell_is_tested_on_it():
    law = np.array([0.995, 0.0025, 0.0025])
    judged_ = compare([9950, 25, 25], law, "h", RATES)

    assert (judged_.decision, judged_.evidence.test) == (Decision.PASS, "binomial.known_rate")
    assert compare([9000, 500, 500], law, "h", RATES).decision is Decision.FAIL


def test_the_draws_needed_are_enough():
    draws = draws_needed(LAW, RATES)
    counts = np.floor(LAW * draws).astype(int)
    counts[0] += draws - counts.sum()

    assert compare(counts.tolist(), LAW, "h", RATES).decision is Decision.PASS
    assert compare((counts // 2).tolist(), LAW, "h", RATES).decision is Decision.INCONCLUSIVE


def test_every_law_has_a_share():
    shares = case(record(), "sampled").ledger.shares

    assert {f"sampled/law/{test}" for test in ("first", "table", "rows", "own batch")} <= set(shares)


def with_a_twin():
    """A second cell of the same sampling: answered in another batch, with few draws of its own."""
    twin = replace(SAMPLED, name="twin", batch=1)
    return replace(suite(), cells=(*suite().cells, twin))


def of_both():
    """What both cells saw; the twin's far table has a seed of its own."""
    twin = replace(SAMPLED, name="twin", batch=1)
    return record() | {"twin/pairs": pairs(twin), "twin/own_batch": {"answers": plain_answers(twin)}}


def test_one_law_is_judged_in_every_cell_of_its_sampling_and_spent_once():
    of = with_a_twin()
    found = [judged(check, of_both(), "twin", of=of) for check in ("law", "acceptance")]

    assert [(Status.PASS, "twin")] * 2 == [(one.status, one.cell) for one in found]
    spent = [name for name in case(record(), of=of).ledger.shares if name.startswith(("twin/law", "twin/accept"))]
    assert ["twin/law/own batch"] == spent


def test_a_law_that_is_off_holds_every_cell_of_its_sampling():
    off = of_both()
    moved(off["sampled/table"]["counts"], 2500)

    assert [Status.FAIL] * 2 == [judged("law", off, cell, of=with_a_twin()).status for cell in ("sampled", "twin")]


def test_a_law_that_is_off_in_one_cells_batch_holds_that_cell_alone():
    off = of_both()
    for answer in off["twin/own_batch"]["answers"]:
        answer[:] = [min(token, 1) for token in answer]
    found = {cell: judged("law", off, cell, of=with_a_twin()) for cell in ("sampled", "twin")}

    assert [Status.PASS, Status.FAIL] == [finding.status for finding in found.values()]
    assert "own batch" in found["twin"].summary


def test_answers_at_the_own_batch_that_follow_another_law_are_a_fault():
    def change(observations):
        for answer in observations["sampled/own_batch"]["answers"]:
            answer[::2] = [0] * len(answer[::2])

    finding = judged("law", spoiled(change), "sampled")

    assert (Status.FAIL, Reason.DISTRIBUTION) == (finding.status, finding.reason)
    assert "own batch by" in finding.summary


def test_one_answer_at_the_own_batch_that_was_cut_is_a_fault():
    finding = judged("law", spoiled(lambda o: o["sampled/own_batch"]["answers"][0].pop()), "sampled")

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)


def test_one_token_that_the_law_forbids_at_the_own_batch_is_proof():
    cell = replace(SAMPLED, top_k=1)
    of = replace(suite(), cells=(suite().cells[0], cell))
    best = {"sampled/own_batch": {"answers": plain_answers(cell)}}
    answers = best["sampled/own_batch"]["answers"]

    def own():
        return LawOfARound()._own_batch(case(best, "sampled", of=of), answers)

    assert all(one.decision is Decision.PASS for one in own().values())
    answers[0][-1] = (answers[0][-1] + 1) % suite().law.vocabulary
    assert ["support.outside_support"] == [one.evidence.test for one in own().values()]
    assert all(one.decision is Decision.FAIL for one in own().values())


def test_a_cell_is_not_judged_by_another_cells_answers():
    assert judged("pit", record(), "twin", of=with_a_twin()).status is Status.INCONCLUSIVE
