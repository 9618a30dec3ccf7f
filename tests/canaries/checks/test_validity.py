"""Right answers stay right; canaries that the baseline fails are struck out before the candidate is seen."""

import observed
import pytest
from kinds import EXAMPLES, canary, judged, right
from observed import NOISE, candidate, forked, spoiled

from draftgate.canaries.checks import flaws
from draftgate.canaries.checks.flaws import Flaw
from draftgate.canaries.checks.validity import by_schema, exactly
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.isolation.outside import Ending

CHECKS = {
    "exact_text": "exact",
    "identifiers": "identifiers",
    "json_valid": "json",
    "tools_valid": "tools",
    "code_runs": "code",
    "multi_turn": "multi_turn",
}
KINDS = [*CHECKS.items()]
CANARIES = [(check, kind) for check, kind in KINDS if check != "identifiers"]
LATE = f"\n{right('code')}"  # right, had the program come so far
BAD = {
    "a key that is repeated": ("json", '{"n": 1, "n": 1}', Flaw.REPEATED_KEY),
    "NaN": ("json", '{"n": NaN}', Flaw.NOT_FINITE),
    "trailing text": ("json", '{"n": 1} That is all.', Flaw.TRAILING),
    "a call that stops in its middle": ("tools", right("tools")[:-9], Flaw.NOT_A_CALL),
    "a program that forks": ("code", "import os\nos.fork()" + LATE, Ending.FORBIDDEN),
    "a program that loops": ("code", "while True:\n    pass" + LATE, Ending.SLOW),
    "a program that writes a file": ("code", "open('x', 'w').write('x')" + LATE, Ending.FORBIDDEN),
    "a program that allocates": ("code", "x = bytearray(10 << 30)" + LATE, Ending.MEMORY),
    "a program that prints 100 MB": ("code", "print('x' * 100_000_000)" + LATE, Ending.LOUD),
}


def test_every_kind_with_right_answers_has_its_check():
    assert set(EXAMPLES) == set(CHECKS.values())


@pytest.mark.parametrize(("check", "kind"), CANARIES)
def test_right_answers_pass(check, kind):
    finding = judged(check, kind, [right(kind)] * 2, [right(kind)] * 2)

    assert finding.status is Status.PASS
    assert (2, 2, 2) == tuple(finding.figures[key] for key in ("asked", "baseline_right", "candidate_right"))
    assert ({}, {}) == (finding.figures["struck_out"], finding.figures["flaws"])


@pytest.mark.parametrize(("check", "kind"), KINDS)
@pytest.mark.parametrize("wrong", ["", "no", "{}}", "a ", "\ud800", "{" * 100_000])
def test_one_wrong_answer_fails(check, kind, wrong):
    finding = judged(check, kind, [right(kind)] * 2, [right(kind), wrong])

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert finding.reproduce == (canary(kind, 2).id,)


@pytest.mark.parametrize("what", BAD)
def test_a_bad_answer_fails_by_type_and_one_of_both_arms_is_struck_out(what):
    kind, text, flaw = BAD[what]
    (check,) = (name for name, judges in KINDS if judges == kind)

    alone = judged(check, kind, [right(kind)], [text])
    both = judged(check, kind, [text], [text])

    assert (Status.FAIL, {str(flaw): 1}) == (alone.status, alone.figures["flaws"])
    assert (Status.INCONCLUSIVE, {str(flaw): 1}) == (both.status, both.figures["struck_out"])


@pytest.mark.parametrize("arms", ["candidate", "both"])
def test_an_answer_that_a_schema_takes_too_long_for_is_not_right(arms, monkeypatch):
    monkeypatch.setattr(flaws, "SECONDS", 0.2)
    monkeypatch.setitem(EXAMPLES, "json", ({"schema": {"items": {"pattern": "^(a+)+$"}}}, "[]"))
    slow = f'["{"a" * 64}b"]'

    finding = judged("json_valid", "json", [slow if arms == "both" else "[]"], [slow])

    told = finding.figures["struck_out" if arms == "both" else "flaws"]
    assert (Status.INCONCLUSIVE if arms == "both" else Status.FAIL) is finding.status
    assert {str(Flaw.TOO_SLOW): 1} == told


@pytest.mark.parametrize(("check", "kind"), KINDS)
def test_a_baseline_that_cannot_do_the_task_leaves_nothing_to_judge(check, kind):
    finding = judged(check, kind, ["no", "no", right(kind)], ["no", "no", right(kind)])

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


@pytest.mark.parametrize(("check", "kind"), CANARIES)
def test_a_struck_out_canary_is_not_held_against_the_candidate(check, kind):
    finding = judged(check, kind, ["no", right(kind)], ["", right(kind)])

    assert finding.status is Status.PASS
    assert "1 of 1 right, 1 of 2 struck out" in finding.summary
    assert 1 == sum(finding.figures["struck_out"].values())


@pytest.mark.parametrize(("check", "kind"), KINDS)
def test_a_cell_that_asks_none_of_the_kind_says_nothing(check, kind):
    other = "exact" if kind != "exact" else "json"

    assert judged(check, other, [right(other)], [right(other)]).status is Status.INCONCLUSIVE


@pytest.mark.parametrize(("check", "kind"), CANARIES)
def test_an_answer_that_was_cut_is_told_as_that(check, kind):
    finding = judged(check, kind, [right(kind)], [right(kind)[:-1] + "\0"], finish="length")

    assert {str(Flaw.CUT): 1} == finding.figures["flaws"]
    assert "cut by the token limit" in finding.summary


@pytest.mark.parametrize(("margin", "status"), [(NOISE, Status.PASS), (1.0, Status.FAIL)])
def test_an_answer_that_forked_at_a_near_tie_is_no_evidence(margin, status):
    def change(observations):
        forked(observations, at=5, margins=[0.0] * 5 + [margin] + [0.0] * 14)
        candidate(observations).update(text="b")

    finding = observed.judged("exact_text", spoiled(change))

    assert finding.status is status
    assert ("1 of 1 right, 0 of 2 struck out, 1 forked at near ties" in finding.summary) == (status is Status.PASS)


def test_where_near_ties_took_too_many_nothing_is_left_to_judge():
    def change(observations):
        forked(observations, at=5, margins=[0.0] * 20, canary=1)
        candidate(observations, canary=1).update(text="b")

    finding = observed.judged("json_valid", spoiled(change))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_the_exact_text_is_no_more_and_no_less():
    asked = canary("exact")

    assert exactly(asked, "a b") is None
    assert exactly(asked, "a b\n").flaw is exactly(asked, "a").flaw is Flaw.OTHER_TEXT


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ('{"n": 1, "n": 1}', Flaw.REPEATED_KEY),
        ('{"n": NaN}', Flaw.NOT_FINITE),
        ('{"n": Infinity}', Flaw.NOT_FINITE),
        ('{"n": 1} {}', Flaw.TRAILING),
        ('{"n": "1"}', Flaw.NOT_BY_SCHEMA),
        ("", Flaw.NOT_JSON),
        ("[" * 100_000, Flaw.TOO_DEEP),
    ],
)
def test_json_that_only_looks_right_is_refused_for_what_it_is(text, flaw):
    asked = canary("json")

    assert by_schema(asked, '{"n": 1}') is None
    assert flaw is by_schema(asked, text).flaw
