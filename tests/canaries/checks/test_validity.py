"""Right answers stay right; canaries that the baseline fails are struck out before the candidate is seen."""

import pytest
from observed import CANARIES, NOISE, candidate, forked, judged, record, spoiled

from draftgate.canaries.checks.validity import satisfies_schema, says_exactly
from draftgate.canaries.contracts import Reason, Status
from draftgate.suites.suite import Canary


def baseline_says(text, kind):
    """Every baseline answer to this kind."""

    def change(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for run in group["runs"]:
                for answer in run["generations"]:
                    if run["arm"] == "baseline" and answer["name"].startswith(kind):
                        answer["text"] = text

    return change


@pytest.mark.parametrize(("check", "right"), [("exact_text", 2), ("json_valid", 1)])
def test_right_answers_pass(check, right):
    finding = judged(check, record())

    assert finding.status is Status.PASS
    assert finding.figures == {"asked": right, "baseline_right": right, "near_ties": 0, "candidate_right": right}


@pytest.mark.parametrize(
    ("check", "canary", "text"),
    [("exact_text", 0, "a "), ("exact_text", 3, ""), ("json_valid", 1, "[]"), ("json_valid", 1, "{}}")],
)
@pytest.mark.parametrize("repeat", [0, 1])
def test_one_wrong_answer_in_one_repeat_fails(check, canary, text, repeat):
    observations = spoiled(lambda o: candidate(o, canary=canary, repeat=repeat).update(text=text))

    finding = judged(check, observations)

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert finding.reproduce == (CANARIES[canary].id,)


@pytest.mark.parametrize(("check", "kind"), [("exact_text", "exact"), ("json_valid", "json")])
def test_a_baseline_that_cannot_do_the_task_leaves_nothing_to_judge(check, kind):
    finding = judged(check, spoiled(baseline_says("no", kind)))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_a_struck_out_canary_is_not_held_against_the_candidate():
    def change(observations):
        baseline_says("no", "exact-1")(observations)
        candidate(observations).update(text="no")

    finding = judged("exact_text", spoiled(change))

    assert finding.status is Status.PASS
    assert "1 of 2 struck out" in finding.summary


@pytest.mark.parametrize(("margin", "status"), [(NOISE, Status.PASS), (1.0, Status.FAIL)])
def test_an_answer_that_forked_at_a_near_tie_is_no_evidence(margin, status):
    def change(observations):
        forked(observations, at=5, margins=[0.0] * 5 + [margin] + [0.0] * 14)
        candidate(observations).update(text="b")

    finding = judged("exact_text", spoiled(change))

    assert finding.status is status
    assert ("1 of 1 right, 0 of 2 struck out, 1 forked at near ties" in finding.summary) == (status is Status.PASS)


def test_where_near_ties_took_too_many_nothing_is_left_to_judge():
    def change(observations):
        forked(observations, at=5, margins=[0.0] * 20, canary=1)
        candidate(observations, canary=1).update(text="b")

    finding = judged("json_valid", spoiled(change))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_the_exact_text_is_no_more_and_no_less():
    canary = Canary(id="c", kind="exact", messages=(), expect="a b")

    assert says_exactly(canary, "a b")
    assert not says_exactly(canary, "a b\n")
    assert not says_exactly(canary, "a")


@pytest.mark.parametrize(
    "text", ['{"n": 1, "n": 1}', '{"n": NaN}', '{"n": 1} {}', '{"n": "1"}', "", "[" * 100_000, '{"n": Infinity}']
)
def test_json_that_only_looks_right_is_refused(text):
    canary = Canary(id="c", kind="json", messages=(), schema={"properties": {"n": {"type": "number"}}})

    assert satisfies_schema(canary, '{"n": 1}')
    assert not satisfies_schema(canary, text)
