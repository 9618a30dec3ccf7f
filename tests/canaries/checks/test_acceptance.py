"""Acceptance of drafts whose fate is known: all, none, or the exact rate."""

from dataclasses import replace

import pytest
from observed import case, generation, judged, record, replay, spoiled, suite

from draftgate.canaries.checks.acceptance import impossible, shown
from draftgate.canaries.contracts import Reason, Status
from draftgate.engine.request import Round


def kept(label, keeps, canary=0):
    """One answer under a synthetic drafter keeps drafts as told."""

    def change(observations):
        answers = observations["synthetic"]["variants"][label]["generations"]
        answers[canary] |= generation(answers[canary]["name"], kept=keeps)

    return change


def test_known_drafts_kept_as_they_must_be_pass():
    assert judged("acceptance", record()).status is Status.PASS


@pytest.mark.parametrize(
    ("label", "keeps"), [("oracle", (2, 1)), ("oracle", (0,)), ("adversary", (0, 1)), ("adversary", (2,))]
)
def test_a_share_that_known_drafts_cannot_have_fails(label, keeps):
    finding = judged("acceptance", spoiled(kept(label, keeps)))

    assert (Status.FAIL, Reason.METRICS) == (finding.status, finding.reason)
    assert finding.summary.startswith(f"{label}: exact-1")


@pytest.mark.parametrize("label", ["oracle", "odd-even"])
def test_what_must_be_kept_is_judged_for_each_drafter_that_knows(label):
    of = replace(suite(), synthetic=replace(suite().synthetic, drafters=(label,)))
    observations = record()
    honest = observations["synthetic"]["variants"]["oracle"]
    observations["synthetic"]["variants"] = {label: honest}

    right = judged("acceptance", observations, of=of)
    honest["generations"][1]["rounds"][0] = [2, 1, 2, 0]
    wrong = judged("acceptance", observations, of=of)

    assert (Status.PASS, Status.FAIL) == (right.status, wrong.status)


def test_an_answer_that_forked_is_left_to_other_checks():
    observations = spoiled(kept("oracle", (1,)))
    answer = observations["synthetic"]["variants"]["oracle"]["generations"][0]
    answer["tokens"][5] = 99
    observations["synthetic"]["variants"]["oracle"]["replays"]["exact-1"] = replay(20)

    assert impossible(observations["synthetic"]) == []


def test_known_drafts_that_were_never_proposed_are_not_exercised():
    def change(observations):
        for answer in observations["synthetic"]["variants"]["oracle"]["generations"]:
            answer["rounds"] = [[0, 0, 1, 0]] * 19

    finding = judged("acceptance", spoiled(change))

    assert (Status.NOT_EXERCISED, Reason.NOT_EXERCISED) == (finding.status, finding.reason)


@pytest.mark.parametrize(
    "change",
    [
        lambda o: o.pop("synthetic"),
        lambda o: o["synthetic"]["variants"].pop("oracle"),
        lambda o: o["synthetic"]["variants"]["oracle"]["generations"].pop(),
        lambda o: o["synthetic"]["variants"]["adversary"]["generations"].clear(),
    ],
    ids=["nothing", "a drafter less", "an answer less", "no answers"],
)
def test_greedy_acceptance_needs_every_known_drafter(change):
    finding = judged("acceptance", spoiled(change))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (finding.status, finding.reason)


def test_the_exact_rate_passes_and_a_shifted_one_fails():
    honest = record()
    rate = honest["sampled/table"]["accepted"] / honest["sampled/table"]["draws"]
    shifted = spoiled(lambda o: o["sampled/table"].update(accepted=round((rate + 0.05) * o["sampled/table"]["draws"])))
    rare = spoiled(lambda o: o["sampled/table"].update(accepted=0, proposed=0))

    assert judged("acceptance", honest, "sampled").status is Status.PASS
    assert (Status.FAIL, Reason.DISTRIBUTION) == _told(judged("acceptance", shifted, "sampled"))
    assert (Status.FAIL, Reason.DISTRIBUTION) == _told(judged("acceptance", rare, "sampled"))


def test_too_few_draws_are_incomplete():
    def change(observations):
        table = observations["sampled/table"]
        rate = table["accepted"] / table["draws"]
        table.update(draws=50, first=[50, 0, 0], counts=[50, *[0] * 8], proposed=50, accepted=round(50 * rate))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == _told(judged("acceptance", spoiled(change), "sampled"))


def test_no_draws_are_incomplete():
    def change(observations):
        observations["sampled/table"].update(draws=0, first=[0] * 3, counts=[0] * 9, proposed=0, accepted=0)

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == _told(judged("acceptance", spoiled(change), "sampled"))


def test_acceptance_is_shown_for_each_position_of_those_proposed_there():
    figures = shown([Round(2, 2, 3, 0), Round(2, 1, 2, 0), Round(1, 0, 1, 0), Round(0, 0, 1, 0)], 3)

    assert figures["by_position"] == [2 / 3, 1 / 2, None]
    assert (5, 3, 4, 7 / 4) == tuple(figures[k] for k in ("proposed", "accepted", "rounds", "tokens_per_round"))


def test_no_rounds_have_no_rate():
    assert shown([], 1) == {"proposed": 0, "accepted": 0, "rounds": 0, "tokens_per_round": None, "by_position": [None]}
    assert case(record()).draft_length == 2


def _told(finding):
    return finding.status, finding.reason
