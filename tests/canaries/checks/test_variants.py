"""No draft length and no drafter may change a greedy answer, and each must have drafted."""

import pytest
from observed import ANSWER, EOS, GAP, NOISE, generation, judged, record, replay, spoiled

from draftgate.canaries.checks.variants import idle_variants
from draftgate.canaries.contracts import Reason, Status

CHECKS = ["knobs", "synthetic"]
WHOLE = (*ANSWER, EOS)


def last_variant(observations, check):
    return list(observations[check]["variants"].items())[-1]


def changed(check, tokens, margins):
    """The last variant's answer to the last canary is another one."""

    def change(observations):
        _, variant = last_variant(observations, check)
        name = variant["generations"][-1]["name"]
        variant["generations"][-1] |= generation(name, tokens)
        variant["replays"][name] = replay(len(tokens), margin=margins)

    return spoiled(change)


@pytest.mark.parametrize("check", CHECKS)
def test_equal_answers_pass(check):
    finding = judged(check, record())

    assert finding.status is Status.PASS
    assert finding.figures == {"tokens": 120, "variants": 2, "forks": 0}


@pytest.mark.parametrize("check", CHECKS)
def test_a_near_tie_is_explained_and_a_clear_choice_is_not(check):
    other = [*WHOLE[:9], 99, *WHOLE[10:]]

    tie = judged(check, changed(check, other, [0.0] * 9 + [NOISE] + [0.0] * 10))
    clear = judged(check, changed(check, other, [0.0] * 9 + [1.0] + [0.0] * 10))

    assert tie.status is Status.PASS
    assert "but for 1 fork that noise explains" in tie.summary
    assert (Status.FAIL, Reason.CORRECTNESS) == (clear.status, clear.reason)


@pytest.mark.parametrize("check", CHECKS)
def test_a_tie_where_the_second_best_token_is_far_off_cannot_have_been_observed(check):
    observations = changed(check, [*WHOLE[:9], 99, *WHOLE[10:]], [0.0] * 9 + [NOISE] + [0.0] * 10)
    last_variant(observations, check)[1]["replays"]["prose-1"]["gap"][9] = GAP

    finding = judged(check, observations)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "(margin is 0.0001 logits where the second best token is 5 below the best)" in finding.summary


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("tokens", [WHOLE[:5], (*WHOLE, 5), ()], ids=["early", "late", "empty"])
def test_another_length_fails_and_names_the_variant(check, tokens):
    observations = changed(check, tokens, [0.0] * len(tokens))

    finding = judged(check, observations)

    label, _ = last_variant(observations, check)
    assert finding.status is Status.FAIL
    assert label in finding.summary
    assert finding.reproduce == (f"{label}:prose-1",)


@pytest.mark.parametrize("check", CHECKS)
def test_a_variant_that_never_drafted_is_not_exercised(check):
    def change(observations):
        _, variant = last_variant(observations, check)
        for answer in variant["generations"]:
            answer["rounds"] = [[0, 0, 1, 0]] * 19

    observations = spoiled(change)

    finding = judged(check, observations)

    assert (Status.NOT_EXERCISED, Reason.NOT_EXERCISED) == (finding.status, finding.reason)
    assert [last_variant(observations, check)[0]] == idle_variants(observations[check]["variants"])


@pytest.mark.parametrize("check", CHECKS)
def test_a_fault_is_a_fault_even_where_nothing_was_drafted(check):
    observations = changed(check, WHOLE[:5], [0.0] * 5)
    for answer in last_variant(observations, check)[1]["generations"]:
        answer["rounds"] = []

    assert judged(check, observations).status is Status.FAIL


MISTOLD = {
    "a round that kept more than it drafted": (lambda a: a["rounds"].__setitem__(0, [0, 3, 4, 0]), Reason.METRICS),
    "a token that no round emitted": (lambda a: a["rounds"].pop(), Reason.METRICS),
    "a stream that carried less": (lambda a: a["arrivals"].pop(), Reason.METRICS),
    "more drafted than asked": (lambda a: a["rounds"].__setitem__(-1, [9, *a["rounds"][-1][1:]]), Reason.METRICS),
    "another end": (lambda a: a.update(finish="length"), Reason.CORRECTNESS),
    "another text": (lambda a: a.update(text="Twice."), Reason.CORRECTNESS),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("change", MISTOLD)
def test_equal_tokens_that_are_told_otherwise_fail(check, change):
    spoil, reason = MISTOLD[change]

    finding = judged(check, spoiled(lambda o: spoil(last_variant(o, check)[1]["generations"][-1])))

    assert (Status.FAIL, reason) == (finding.status, finding.reason)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("gap", "status"), [(NOISE, Status.INCONCLUSIVE), (GAP, Status.FAIL)])
def test_a_kept_baseline_leaves_a_near_tie_open_and_a_clear_choice_not(check, gap, status):
    observations = changed(check, [*WHOLE[:9], 99, *WHOLE[10:]], [0.0] * 9 + [None] * 11)
    last_variant(observations, check)[1]["replays"]["prose-1"]["gap"][9:] = [gap] + [None] * 10

    finding = judged(check, observations, kept=True)

    assert finding.status is status
    assert ("run with the baseline itself" in finding.summary) == (status is Status.INCONCLUSIVE)
    assert judged(check, record(), kept=True).status is Status.PASS
