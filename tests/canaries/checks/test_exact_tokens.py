"""Greedy parity: near ties are explained one by one, and must be neither too many nor in the wrong places."""

from dataclasses import replace

import pytest
from observed import (
    ANSWER,
    CANARIES,
    EOS,
    GAP,
    GREEDY,
    NOISE,
    candidate,
    case,
    forked,
    generation,
    judged,
    pairs,
    record,
    replay,
    replays,
    spoiled,
    suite,
)

from draftgate.canaries.checks.exact_tokens import ExactTokens
from draftgate.canaries.contracts import Reason, Status

WHOLE = (*ANSWER, EOS)
REPLACEMENT, BEHIND_A_REJECTION = 4, 5  # rounds keep 2, 0, 1 of 2: token 4 replaces a refused one
TIE = [0.0] * 5 + [4 * NOISE] + [0.0] * 14  # the sixth token is a near tie, and the best on its prefix everywhere else


def near_tie(observations):
    """The baseline itself found the first answer's sixth token a near tie."""
    observations["greedy/replays"]["census"][0]["gap"][5] = NOISE


def near_ties_everywhere(observations):
    """The baseline itself found every choice a near tie, so that any number of forks may come."""
    for one in observations["greedy/replays"]["census"]:
        one["gap"] = [0.0] * len(one["gap"])


def test_equal_answers_pass():
    assert judged("exact_tokens", record()).status is Status.PASS


def test_a_near_tie_within_the_noise_is_explained():
    observations = record()
    near_tie(observations)
    forked(observations, at=5, margins=TIE)

    finding = judged("exact_tokens", observations)

    assert finding.status is Status.PASS
    assert {"unexplained": 0, "forks": 1, "tokens": 80, "decided": 79} == finding.figures
    assert "1 fork of at most 0.0004 logits explained by a noise of 0.0001" in finding.seen
    assert finding.summary.endswith("explained by a noise of 0.0001")


def test_the_same_difference_with_a_larger_margin_is_a_fault():
    observations = record()
    near_tie(observations)
    forked(observations, at=5, margins=[*TIE[:5], 9 * NOISE, *TIE[6:]])

    finding = judged("exact_tokens", observations)

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert finding.reproduce == ("exact-1",)


def test_a_confident_token_after_an_explained_fork_must_be_the_best_one():
    observations = record()
    near_tie(observations)
    forked(observations, at=5, margins=[*TIE[:12], 3.0, *TIE[13:]])

    assert judged("exact_tokens", observations).status is Status.FAIL


@pytest.mark.parametrize("tokens", [WHOLE[:7], WHOLE[:-1], (*WHOLE, 7)], ids=["early", "no end", "late"])
def test_an_end_that_comes_too_early_or_too_late_is_never_explained(tokens):
    observations = record()
    near_tie(observations)
    forked(observations, at=0, margins=[0.0] * len(tokens), tokens=tokens)

    assert judged("exact_tokens", observations).status is Status.FAIL


def test_a_margin_that_was_not_a_number_explains_nothing():
    observations = record()
    near_tie(observations)
    forked(observations, at=5, margins=[*TIE[:5], None, *TIE[6:]])

    assert judged("exact_tokens", observations).status is Status.FAIL


def test_explained_forks_where_margins_were_large_are_too_many():
    observations = record()
    forked(observations, at=5, margins=TIE)

    finding = judged("exact_tokens", observations)

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert finding.figures["unexplained"] == 0
    assert finding.evidence[0]["p_value"] < 1e-9
    assert finding.evidence[1]["p_value"] > 1e-3


def test_one_near_tie_that_forks_in_every_repeat_is_one_fork():
    """What shakes one repeat of a deterministic engine shakes them all: eight repeats are no independent evidence."""
    cell = replace(GREEDY, repeats=8)
    observations = {"greedy/pairs": pairs(cell), "greedy/replays": replays(cell)}
    observations["greedy/replays"]["census"][0]["gap"][5] = NOISE
    changed = [*WHOLE[:5], 99, *WHOLE[6:]]
    for run in observations["greedy/pairs"]["groups"][0]["runs"]:
        if run["arm"] == "candidate":
            run["generations"][0] = generation("exact-1", changed)
            observations["greedy/replays"]["candidate"].append(replay(20, margin=TIE))
            observations["greedy/replays"]["replayed"].append("exact-1")
    of = replace(suite(), cells=(cell, suite().cells[1]))

    finding = judged("exact_tokens", observations, of=of)

    assert finding.status is Status.PASS
    assert finding.figures["forks"] == 1
    assert finding.evidence[0]["statistic"] == 1


def clustered(*, at: int | None, answers: int = 60, forks: int = 30):
    """Many answers of near ties, half of which fork: at one place, or evenly over all places."""
    cell = replace(GREEDY, batch=60, prompts=answers, repeats=1)
    canaries = [replace(CANARIES[2], id=f"prose-{number}") for number in range(answers)]
    of = replace(suite(), canaries=tuple(canaries), cells=(cell, suite().cells[1]))
    observations = {"greedy/pairs": pairs(cell, canaries), "greedy/replays": replays(cell, canaries)}
    near_ties_everywhere(observations)
    run = observations["greedy/pairs"]["groups"][0]["runs"][1]
    for number in range(forks):
        name = canaries[number].id
        place = at or 1 + number % 18
        run["generations"][number] = generation(name, [*WHOLE[:place], 99, *WHOLE[place + 1 :]])
        observations["greedy/replays"]["candidate"].append(replay(20))
        observations["greedy/replays"]["replayed"].append(name)
    return observations, of


def test_forks_that_sit_behind_rejections_are_a_fault():
    observations, of = clustered(at=BEHIND_A_REJECTION)

    finding = judged("exact_tokens", observations, of=of)

    census, places = finding.evidence
    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert census["p_value"] > 0.5
    assert places["p_value"] < case(observations, of=of).share("exact_tokens", "clustering")


@pytest.mark.parametrize("at", [None, REPLACEMENT], ids=["evenly", "replacements"])
def test_as_many_forks_elsewhere_are_none(at):
    """A near tie that forks away from the draft is a rejection by itself: that they coincide shows nothing."""
    observations, of = clustered(at=at)

    assert judged("exact_tokens", observations, of=of).status is Status.PASS


def test_confident_tokens_do_not_dilute_the_places():
    """Forks are held against near ties: drafts are refused where the target wavers, and so are the forks of noise."""
    observations, of = clustered(at=BEHIND_A_REJECTION)
    for one in observations["greedy/replays"]["census"]:
        one["gap"] = [0.0 if place == BEHIND_A_REJECTION else GAP for place in range(20)]

    finding = judged("exact_tokens", observations, of=of)

    assert finding.status is Status.PASS
    assert finding.evidence[1]["n"] == finding.evidence[1]["details"]["marked"] == 60


def test_tokens_that_noise_could_explain_are_no_evidence():
    """Near ties everywhere, none of which forked: equal tokens show nothing, for another one would have passed too."""
    observations = record()
    near_ties_everywhere(observations)

    finding = judged("exact_tokens", observations)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert {"forks": 0, "decided": 0} == {key: finding.figures[key] for key in ("forks", "decided")}


def test_a_pass_says_of_how_many_tokens_it_speaks():
    observations = record()
    observations["greedy/replays"]["census"][0]["gap"][:4] = [8 * NOISE] * 4

    finding = judged("exact_tokens", observations)

    assert finding.status is Status.PASS
    assert "of those decided by more than 0.0008 logits (95%)" in finding.seen
    assert "decided" not in judged("exact_tokens", record()).seen


def test_too_few_tokens_are_incomplete_and_say_how_many_are_missing():
    of = replace(suite(), design=replace(suite().design, token_fault_rate=0.01))

    finding = judged("exact_tokens", record(), of=of)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert "608 more are needed that are decided by over 0.0008 logits" in finding.summary


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda o: o["greedy/replays"]["candidate"].pop(), id="a replay less"),
        pytest.param(lambda o: o["greedy/replays"]["candidate"][0]["margin"].clear(), id="no margins"),
        pytest.param(lambda o: o["greedy/replays"]["candidate"][0]["margin"].pop(), id="a margin less"),
        pytest.param(lambda o: o["greedy/replays"].update(replayed=["json-1"]), id="the replay of another answer"),
        pytest.param(lambda o: o["greedy/replays"]["census"].pop(), id="a census less"),
        pytest.param(lambda o: o["greedy/replays"]["census"][0]["gap"].pop(), id="a gap less"),
        pytest.param(lambda o: o["greedy/replays"]["census"][0].update(gap=[None] * 20), id="a gap that is no number"),
        pytest.param(lambda o: o["greedy/replays"]["noise"]["logits"].update(alone=None), id="noise that is no number"),
        pytest.param(lambda o: o["greedy/replays"]["noise"]["logits"].clear(), id="no noise"),
        pytest.param(lambda o: o["greedy/replays"]["noise"].update(positions=0), id="noise of no position"),
    ],
)
def test_a_fork_with_a_hole_in_its_evidence_is_incomplete(change):
    observations = record()
    near_tie(observations)
    forked(observations, at=5, margins=TIE)
    change(observations)

    finding = judged("exact_tokens", observations)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_nothing_compared_is_incomplete():
    def emptied(observations):
        for group in observations["greedy/pairs"]["groups"]:
            for run in group["runs"]:
                run["generations"] = [generation(name, ()) for name in group["canaries"]]
        for one in observations["greedy/replays"]["census"]:
            one.update({field: [] for field in one})

    assert judged("exact_tokens", spoiled(emptied)).status is Status.INCONCLUSIVE


def test_its_tests_are_the_census_and_the_places():
    assert ExactTokens().tests(suite(), GREEDY) == ("census", "clustering")
    assert GAP > 8 * NOISE


@pytest.mark.parametrize("change", [{"text": "b"}, {"finish": "length"}], ids=["text", "finish"])
def test_equal_tokens_with_another_text_or_end_are_a_fault(change):
    finding = judged("exact_tokens", spoiled(lambda o: candidate(o).update(change)))

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
    assert ("exact-1",) == finding.reproduce


def beside_kept(gap):
    """A fork where a kept baseline was surer than another token by `gap`, and was not asked about the candidate's."""

    def change(observations):
        forked(observations, at=5, margins=[0.0] * 5 + [None] * 15)
        observations["greedy/replays"]["candidate"][-1]["gap"][5:] = [gap] + [None] * 14
        observations["greedy/replays"]["census"][0]["gap"][5] = gap

    return judged("exact_tokens", spoiled(change), kept=True)


def test_a_fork_at_a_near_tie_of_a_kept_baseline_is_open_and_says_what_tells_more():
    finding = beside_kept(NOISE)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)
    assert (
        "1 answer that left the kept baseline's at a near tie, first at token 5 of exact-1: run with" in finding.summary
    )
    assert "the baseline itself to tell a near tie from a fault" in finding.summary


def test_a_fork_where_a_kept_baseline_was_sure_is_a_fault():
    finding = beside_kept(GAP)

    assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)


def test_equal_answers_pass_beside_a_kept_baseline():
    assert judged("exact_tokens", record(), kept=True).status is Status.PASS
