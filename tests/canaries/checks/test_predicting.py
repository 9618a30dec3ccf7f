"""A speed-up is foretold from rounds and costs alone, and what lies above it is said to."""

import math

import pytest
from observed import costs, generation, judged, record

from draftgate.canaries.checks.predicting import acceptance, drafted_by_round
from draftgate.canaries.contracts import Status
from draftgate.engine.request import Generation, Round
from tolerances import ROUNDING

IMPOSSIBLE = (None, True, "x", -1, 0.0, math.nan, math.inf, 1e-320, 1e300, 10**400, [], {})
TOKENS, ROUNDS, DRAFTED = 20, 10, 2  # of each answer of `observed`: one at prefill, then 3, 1, 2 a round


def told(change=None, cell="greedy", **parts):
    """The figures of the check, with costs beside the honest record."""
    observations = record() | {f"{cell}/costs": costs(**parts)}
    if change:
        change(observations)
    finding = judged("speed", observations, cell)
    assert finding.status is Status.PASS
    return finding.figures["predicted"]


def test_the_recorded_rounds_have_what_these_tests_count():
    found = generation("prose-1")

    assert (TOKENS, ROUNDS) == (len(found["tokens"]), len(found["rounds"]))
    assert {DRAFTED} == {one[0] for one in found["rounds"]}


@pytest.mark.parametrize("cell", ["greedy", "sampled"])
def test_it_is_plain_over_speculative_seconds_of_the_recorded_rounds(cell):
    found = told(cell=cell)

    plain, speculative = 0.01 * TOKENS, 0.01 + ROUNDS * (0.001 + 0.0105)
    assert plain / speculative == pytest.approx(found["ratio"], rel=ROUNDING)
    assert (found["low"], found["high"]) == pytest.approx((found["ratio"],) * 2, rel=ROUNDING)


def test_it_says_what_it_is_made_of():
    found = told()

    assert (TOKENS - 1) / ROUNDS == pytest.approx(found["tokens_a_round"], rel=ROUNDING)
    assert (0.05, 1.05, 2.0) == pytest.approx((found["c"], found["wider"], found["width"]), rel=ROUNDING)
    assert found["tokens_a_round"] / 1.1 == pytest.approx(found["ideal"], rel=ROUNDING)


def test_a_prompt_that_the_draft_has_not_seen_costs_its_prefill_once():
    def long_prompt(observations):
        observations["greedy/costs"]["prefill"]["draft"] = 0.101

    speculative = 0.01 + 0.1 + ROUNDS * 0.0115
    assert 0.01 * TOKENS / speculative == pytest.approx(told(long_prompt)["ratio"], rel=ROUNDING)


def test_a_speed_above_its_bound_is_said_to_be():
    assert not told()["exceeded"]  # 1.82 was measured
    assert not told(verify=0.011)["exceeded"]
    assert told(verify=0.03)["exceeded"]  # a pass that is three times as dear leaves 0.67


def test_a_record_without_costs_is_judged_as_it_was():
    with_, without = (judged("speed", record() | more) for more in ({"greedy/costs": costs()}, {}))

    assert without.figures["predicted"] is None
    assert (without.status, without.summary) == (with_.status, with_.summary)
    assert without.figures == with_.figures | {"predicted": None}


def drop(part):
    return lambda o: o["greedy/costs"][part].pop()


def silent(o):
    o["greedy/costs"]["drafted"] = [0.0] * len(o["greedy/costs"]["drafted"])


def timeless(o):
    o["greedy/costs"]["step"][0] = 0.0


CHANGES = {"no step": drop("step"), "no drafted": drop("drafted"), "silent": silent, "timeless": timeless}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_costs_with_a_hole_foretell_nothing(change):
    assert told(change) is None


def test_turns_without_a_draft_do_not_count():
    def some(observations):
        found = observations["greedy/costs"]
        for place in range(8):
            found["drafted"][place], found["draft"][place], found["verify"][place] = 0.0, 1.0, 9.0

    assert told() == told(some)


def test_no_value_of_the_costs_crashes_the_check_or_moves_its_verdict():
    places = [("step", 3), ("draft", 0), ("verify", 1), ("drafted", 2), ("prefill", "target"), ("prefill", "draft")]
    for part, place in [*places, (None, None), *((part, None) for part, _ in places)]:
        for value in IMPOSSIBLE:
            altered = costs()
            if part is None:
                altered = value
            elif place is None:
                altered[part] = value
            else:
                altered[part][place] = value
            finding = judged("speed", record() | {"greedy/costs": altered}, "greedy")
            assert finding.status is Status.PASS
            found = finding.figures["predicted"]
            assert found is None or all(math.isfinite(found[key]) for key in ("ratio", "low", "high", "c", "wider"))


def test_acceptance_is_kept_over_judged():
    listed = [Round(4, 4, 5, 0), Round(4, 1, 2, 0), Round(4, 0, 1, 0)]  # 5 kept of 7 judged: what follows a miss is not

    assert 5 / 7 == pytest.approx(acceptance(listed), rel=ROUNDING)
    assert math.isnan(acceptance([Round(0, 0, 1, 0)]))


def test_a_round_drafts_what_its_open_rows_do_on_average():
    long, short = (
        Generation.from_json(generation("a") | {"rounds": [[drafted, 0, 1, 0] for drafted in counts]})
        for counts in ((4, 4, 2), (2,))
    )

    assert [3.0, 4.0, 2.0] == drafted_by_round([long, short])
