"""Answers that end in endless repetition are counted in both arms, and only the difference is held."""

from dataclasses import replace

import observed
import pytest

from draftgate.canaries.checks.base import entry
from draftgate.canaries.checks.loops import loops
from draftgate.canaries.checks.registry import ledger
from draftgate.canaries.contracts import Reason, Status
from draftgate.suites.suite import Canary, Cell, Loops

NUMBERS = Loops(shortest=2, longest=5, times=3, effect=0.6)
ASKED = 60
GREEDY = Cell(name="greedy", temperature=0.0, batch=1, prompts=ASKED, tokens=20, repeats=1)
ALSO = replace(GREEDY, name="also-greedy")
SAMPLED = replace(GREEDY, name="sampled", temperature=1.0, repeats=2)
CALM, LOOP = (*range(2, 20), 0), (7, 8, 9, 8, 9, 8, 9, 0)


def suite(*cells, asked=ASKED):
    canaries = tuple(Canary(id=f"prose-{n}", kind="prose", messages=observed.ASK) for n in range(asked))
    required = replace(observed.suite().required["reference"], greedy=("loops",), sampled=("loops",))
    cells = tuple(replace(cell, prompts=asked) for cell in cells)
    return replace(observed.suite(), canaries=canaries, cells=cells, loops=NUMBERS, required={"reference": required})


def judged(chosen, looping, cell=None):
    """What the check says where, by arm, as many of the first canaries loop, in every cell and repeat."""
    observations = {}
    for one in chosen.cells:
        groups = []
        for number, canary in enumerate(chosen.canaries):
            runs = [
                observed.run(
                    arm,
                    repeat,
                    [
                        observed.generation(
                            canary.id,
                            LOOP if number in looping.get(arm, ()) else CALM,
                            kept=None if arm == "baseline" else (2, 0, 1),
                        )
                    ],
                )
                for repeat in range(one.repeats)
                for arm in ("baseline", "candidate")
            ]
            groups.append({"canaries": [canary.id], "runs": runs})
        observations[f"{one.name}/pairs"] = {"groups": groups}
    return observed.judged("loops", observations, cell or chosen.cells[0].name, of=chosen)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([9, 1, 2, 1, 2, 1, 2], True),
        ([5] * 6, True),
        ([1, 2, 3, 4, 5] * 3, True),
        ([1, 2, 3, 4, 5, 6] * 3, False),  # longer than the longest phrase
        ([1, 2, 1, 2], False),  # not often enough
        ([5] * 5, False),
        ([1, 2, 1, 2, 1, 2, 3], False),  # not at the end
        ([1, 2, 1, 2, 1, 3], False),
        ([], False),
    ],
)
def test_an_answer_loops_that_ends_in_one_phrase_again_and_again(tokens, expected):
    assert expected is loops(tokens, NUMBERS)


def test_answers_that_do_not_loop_pass():
    finding = judged(suite(GREEDY), {})

    assert finding.status is Status.PASS
    assert {"pairs": ASKED, "candidate": 0, "baseline": 0} == finding.figures
    assert "into loops" in finding.seen


def test_a_candidate_that_loops_where_the_baseline_does_not_fails():
    finding = judged(suite(GREEDY), {"candidate": range(30)})

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert 30 == len(finding.reproduce)


@pytest.mark.parametrize("looping", [{"baseline": range(3), "candidate": range(3)}, {"candidate": range(5)}])
def test_as_many_as_the_baselines_or_a_few_more_are_no_proof(looping):
    assert judged(suite(GREEDY), looping).status is Status.PASS


def test_prompts_that_make_both_arms_loop_say_nothing():
    assert judged(suite(GREEDY), {"baseline": range(9), "candidate": range(9)}).status is Status.PASS


def test_a_baseline_that_loops_elsewhere_hides_the_candidates_loops():
    finding = judged(suite(GREEDY), {"baseline": range(20), "candidate": range(20, 50)})

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "too few pairs" in finding.summary


def test_too_few_pairs_to_see_the_effect_are_inconclusive():
    assert judged(suite(GREEDY, asked=20), {}).status is Status.INCONCLUSIVE


def test_greedy_answers_to_one_canary_are_one_pair_and_drawn_ones_are_each_their_own():
    assert ASKED == judged(suite(GREEDY, ALSO), {}).figures["pairs"]
    assert 2 * ASKED == judged(suite(SAMPLED), {}).figures["pairs"]
    assert 3 * ASKED == judged(suite(GREEDY, SAMPLED), {}).figures["pairs"]


def test_all_cells_are_pooled_and_the_first_one_pays():
    chosen = suite(GREEDY, SAMPLED)
    findings = [judged(chosen, {"candidate": range(30)}, cell.name) for cell in chosen.cells]

    assert findings[0].evidence == findings[1].evidence
    assert [entry(GREEDY, "loops", "rate")] == [row.name for row in ledger(chosen, "reference").rows()]


def test_a_cell_that_was_not_observed_leaves_all_open():
    chosen = suite(GREEDY, SAMPLED)
    pairs = {"greedy/pairs": {"groups": []}}

    assert observed.judged("loops", pairs, of=chosen).status is Status.INCONCLUSIVE
