"""One word of another's prompt is a leak."""

import copy

from loads import found, honest, suite

from draftgate.canaries.checks.private_words import IN_COMPANY
from draftgate.canaries.contracts import Reason, Status

NAMES = [name.removeprefix("serving/") for name in IN_COMPANY]
FOREIGN = suite().of_kind("identifiers")[5].expect.split()[0]


def observations():
    return {name: copy.deepcopy(honest(name)) for name in NAMES}


def test_no_answer_of_the_honest_engine_holds_a_foreign_word():
    finding = found("private_words", observations())

    assert Status.PASS is finding.status
    assert finding.figures["answers"] > 40


def test_one_foreign_word_fails_greedy_or_sampled():
    greedy, sampled = observations(), observations()
    greedy["order"]["variants"]["reversed"]["generations"][0]["text"] += f" {FOREIGN}"
    sampled["parameters"]["sampled"][0]["generation"]["text"] += f" {FOREIGN}"

    for spoiled in (greedy, sampled):
        finding = found("private_words", spoiled)
        assert (Status.FAIL, Reason.CORRECTNESS) == (finding.status, finding.reason)
        assert FOREIGN in finding.summary


def test_an_observation_that_is_missing_is_no_pass():
    without = observations()
    del without["seam"]

    assert Status.INCONCLUSIVE is found("private_words", without).status
