"""The check on sampled answers: honest records pass, spoiled ones do not, and what is too little to say says so."""

from dataclasses import replace

import pytest
import sampled

from draftgate.canaries.checks.registry import CHECKS, judge
from draftgate.canaries.checks.samples import TESTS, SampledAnswers, draws_needed
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.observations.samples import Open


@pytest.fixture(scope="module")
def honest():
    return sampled.observe(sampled.context(sampled.drafting()))


def spoiled(honest, **changes):
    """The record with its first prompt changed."""
    first, *rest = honest["prompts"]
    return honest | {"prompts": [first | changes, *rest]}


def test_an_honest_record_passes_with_what_it_saw(honest):
    found = sampled.judged(honest)

    assert (Status.PASS, None) == (found.status, found.reason)
    assert "336 answers of at most 3 tokens to each of 3 prompts" == found.summary
    assert found.seen.startswith("first tokens, or answers of 3, off by a total variation of 0.1")
    assert "outcomes rarer than 30% grouped, 4 asked at once; 18% of answers with another's chance" in found.seen
    assert all(one["detectable"] <= 0.2 for one in found.design[:2])


def test_the_verdict_follows_from_the_record_alone(honest):
    assert sampled.judged(honest) == sampled.judged(honest)


def test_one_token_outside_the_support_is_proof(honest):
    outside = [list(row) for row in honest["prompts"][0]["outside"]]
    outside[honest["prompts"][0]["candidate"][5][2]][1] = 1

    found = sampled.judged(spoiled(honest, outside=outside))

    assert (Status.FAIL, Reason.NOT_SPECULATIVE) == (found.status, found.reason)  # plain decoding gave that answer, too
    assert found.summary.endswith("the baseline's tokens lie outside the support (prose-1)")


def test_a_token_of_the_candidates_alone_is_laid_at_its_door(honest):
    prompt = honest["prompts"][0]
    answers, candidate = [*prompt["answers"], [0, 0, 0]], [list(call) for call in prompt["candidate"]]
    assert [0, 0, 0] not in prompt["answers"]
    candidate[5][2] = len(prompt["answers"])
    more = {name: [*prompt[name], row] for name, row in (("below", [1.0] * 3), ("prob", [0.0] * 3))}

    found = sampled.judged(
        spoiled(honest, answers=answers, candidate=candidate, outside=[*prompt["outside"], [0, 1, 0]], **more)
    )

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)
    assert found.summary.endswith("to each of 3 prompts; the candidate's tokens lie outside the support (prose-1)")


def test_noise_that_hides_the_effect_is_no_pass(honest):
    """Three logits: nothing is known of a law."""
    loud = sampled.observe(sampled.context(sampled.drafting(), sampled.plain(sampled.Noisy)))

    found = sampled.judged(loud)

    assert loud["noise"] == sampled.Noisy.error
    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (found.status, found.reason)
    assert "first shows inf at best, 0.2 is asked for: more prompts, or less noise" in found.summary


def test_fewer_draws_than_are_asked_for_are_no_evidence(honest):
    found = sampled.judged(honest, replace(sampled.suite(), samples=replace(sampled.NUMBERS, effect=0.05)))

    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (found.status, found.reason)


def test_no_open_canary_is_no_evidence():
    of = sampled.suite(numbers=replace(sampled.NUMBERS, least_open=0.9))
    made = sampled.observe(sampled.context(sampled.drafting(), of=of))

    found = sampled.judged(made, of)

    assert {"draws": 0, "noise": 0.0, "open": 0, "prompts": []} == made
    assert (Status.INCONCLUSIVE, Reason.INCOMPLETE) == (found.status, found.reason)
    assert "no canary is open enough: one token has more than 10% of the mass in all" == found.summary


def test_cells_of_one_sampling_share_draws_and_spend_once(honest):
    twin = replace(sampled.CELL, name="twin", batch=1)
    of = replace(sampled.suite(), cells=(sampled.CELL, twin))
    case = sampled.case(honest, of)
    check = SampledAnswers()

    assert (TESTS, ()) == tuple(check.tests(of, cell) for cell in of.cells)
    found = check.judge(replace(case, cell=twin))
    assert ("twin", Status.PASS) == (found.cell, found.status)


def test_more_is_drawn_for_less_and_where_less_is_known_and_nothing_where_nothing_is_open():
    of, share = sampled.suite(), sampled.share(sampled.suite())
    fine = replace(of, samples=replace(sampled.NUMBERS, effect=0.05))

    def draws(suite=fine, known=3, unknown=0, noise=0.0):
        return draws_needed(suite, sampled.CELL, share, Open(known, unknown, noise))

    assert draws() == draws()
    assert draws(of) < draws() < draws(known=2)
    assert draws() < draws(known=0, unknown=3)
    assert draws() < draws(noise=0.02)
    assert 0 == draws(known=0)
    assert all(draws(known=known) % sampled.NUMBERS.batch == 0 for known in (1, 2, 3))
    assert 336 == draws(of)  # a hundred at the least open place, 30 %, in whole calls


def test_the_baselines_draws_are_held_against_known_laws_only():
    made = sampled.observe(sampled.context(sampled.drafting(), sampled.plain(sampled.Silent)))

    tests = [one["hypothesis"] for one in sampled.judged(made).evidence]

    assert 3 == len(tests)
    assert not any(test.startswith("plain decoding's own") for test in tests)
    assert "3 of them held against plain decoding's own draws" in sampled.judged(made).seen


def test_a_kept_baseline_is_not_judged_by_answers_of_which_it_drew_the_laws_itself(honest):
    made = sampled.case(honest)
    kept = judge(CHECKS["samples"], replace(made, header={**made.header, "baseline": {"kept": {}}}))

    told = [one["hypothesis"] for one in kept.evidence]
    assert kept.status is Status.PASS
    assert "plain decoding's own first tokens follow the law after the prompt" in told
    assert "plain decoding's own answers have the masses that it gives them" not in told
    assert len(sampled.judged(honest).evidence) == len(told) + 1
