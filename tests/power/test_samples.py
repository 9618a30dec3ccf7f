"""Faults that show in answers alone: each is caught by the draws that the design asks for, honest arms are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import sampled
from plants import ResidualOfDistances, ResidualOfPAt, strategies

from draftgate.canaries.checks.drawn import read
from draftgate.canaries.contracts import Reason, Status
from draftgate.canaries.faults import registry as faults
from draftgate.canaries.observations.context import sampling_of
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.engine.request import Request
from draftgate.stats import stratified

FINE = replace(sampled.NUMBERS, effect=0.055, batch=48, shared_effect=0.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(ReferenceTarget):
    """An arm that answers other requests than it was asked."""

    def changed(self, requests: Sequence[Request]) -> list[Request]:
        return list(requests)

    def generate(self, requests: Sequence[Request]) -> Any:
        return ReferenceTarget.generate(self, self.changed(requests))


def sampling(**changes):
    """An arm that samples otherwise than it was asked to; `temperature` is a factor."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Arm(Changed):
        def changed(self, requests):
            scaled = {
                key: getattr(requests[0].sampling, key) * value if key == "temperature" else value
                for key, value in changes.items()
            }
            return [replace(r, sampling=replace(r.sampling, **scaled)) for r in requests]

    return Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSeedForABatch(Changed):
    """All rows of a call have the first one's seed."""

    def changed(self, requests):
        return [replace(r, seed=requests[0].seed) for r in requests]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoHalvesAlike(Changed):
    """The second half of a call has the seeds of the first."""

    def changed(self, requests):
        half = len(requests) // 2
        return [replace(r, seed=requests[n % half].seed) for n, r in enumerate(requests)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededAnewAtEachCall(Changed):
    """A row's chance is its place in the call."""

    def changed(self, requests):
        return [replace(r, seed=n) for n, r in enumerate(requests)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutShort(Changed):
    """Answers are a token short."""

    def changed(self, requests):
        return [replace(r, max_tokens=r.max_tokens - 1) for r in requests]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFromTheDraft(Changed):
    """The first token is the draft's own."""

    def generate(self, requests):
        first = ReferenceTarget(name="plain", model=self.draft).generate([replace(r, max_tokens=1) for r in requests])
        if requests[0].max_tokens == 1:
            return first
        rest = ReferenceTarget.generate(
            self,
            [
                replace(r, prompt=(*r.prompt, *g.tokens), max_tokens=r.max_tokens - 1)
                for r, g in zip(requests, first, strict=True)
            ],
        )
        return [replace(a, tokens=(*b.tokens, *a.tokens)) for a, b in zip(rest, first, strict=True)]


HONEST = {
    "plain decoding": sampled.plain(),
    "the engine": sampled.drafting(),
    "other order": sampled.drafting(faults.find("N06").apply(strategies())),
    "shorter drafts": sampled.drafting(faults.find("N25").apply(strategies())),
}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("baseline", [ReferenceTarget, sampled.Silent], ids=["known laws", "unknown laws"])
def test_an_honest_engine_passes(name, baseline):
    found = sampled.finding(HONEST[name], sampled.plain(baseline))

    assert (Status.PASS, None) == (found.status, found.reason), found.summary


FAULTS = {
    "greedy": (sampling(temperature=0.0), "whole answers do not follow"),
    "hotter": (sampling(temperature=2.0), "whole answers do not follow"),
    "top-k one less": (sampling(top_k=sampled.CELL.top_k - 1), "whole answers do not follow"),
    "one seed for a batch": (OneSeedForABatch, "answers repeat one another"),
    "two halves alike": (TwoHalvesAlike, "2 rows apart"),
    "seeded anew at each call": (SeededAnewAtEachCall, "1 call apart"),
    "first token from the draft": (FirstFromTheDraft, "first tokens do not follow"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("baseline", [ReferenceTarget, sampled.Silent], ids=["known laws", "unknown laws"])
def test_a_fault_is_caught(name, baseline):
    arm, words = FAULTS[name]

    found = sampled.finding(sampled.drafting(kind=arm), sampled.plain(baseline))

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)
    assert words in found.summary


def test_one_token_too_many_is_proof():
    found = sampled.finding(sampled.drafting(kind=sampling(top_k=sampled.CELL.top_k + 1)))

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)
    assert "tokens lie outside the support (prose-1" in found.summary


def test_answers_cut_short_are_no_law():
    found = sampled.finding(sampled.drafting(kind=CutShort))

    assert (Status.FAIL, Reason.CORRECTNESS) == (found.status, found.reason)


def test_a_fault_of_both_arms_is_not_laid_at_the_drafts_door():
    hot = sampling(temperature=2.0)

    both = sampled.finding(sampled.drafting(kind=hot), sampled.plain(hot))
    baseline = sampled.finding(sampled.drafting(), sampled.plain(hot))

    assert (Status.FAIL, Reason.NOT_SPECULATIVE) == (both.status, both.reason)
    assert (Status.FAIL, Reason.BASELINE_UNSTABLE) == (baseline.status, baseline.reason)
    assert "the baseline's" in baseline.summary


SMALL = {
    "a tenth hotter": sampled.drafting(kind=sampling(temperature=1.1)),
    "the residual is not clipped": sampled.drafting(strategies(verifier=ResidualOfDistances())),
    "F06": sampled.drafting(faults.find("F06").apply(strategies())),
    "F06, where as many rows are decoded as are asked": sampled.drafting(
        strategies(verifier=ResidualOfPAt(FINE.batch))
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_fault_is_caught_by_the_draws_for_its_size(name):
    found = sampled.finding(SMALL[name], of=sampled.suite(numbers=FINE))

    assert (Status.FAIL, Reason.DISTRIBUTION) == (found.status, found.reason)


def test_what_is_asked_for_finely_passes_an_honest_engine_and_not_by_luck():
    of = sampled.suite(numbers=FINE)

    found = sampled.finding(sampled.drafting(), of=of)

    assert Status.PASS == found.status
    assert all(one["detectable"] <= FINE.effect for one in found.design[:2])


def test_a_tenth_hotter_is_as_far_off_as_the_design_must_see():
    """Its draws are expected to have a noncentrality that is missed once in a thousand times at most."""
    of, arm = sampled.suite(numbers=FINE), sampled.plain()
    made, strata = sampled.observe(sampled.context(arm, of=of)), []
    hot = replace(sampling_of(sampled.CELL), temperature=1.1 * sampled.CELL.temperature)
    for one, told in zip(read(made, FINE.tokens, ()), made["prompts"], strict=True):
        (canary,) = (c for c in sampled.CANARIES if c.id == one.canary)
        asked = Request(name="", prompt=(*arm.encode(canary.messages), *told["prefix"]), max_tokens=3, sampling=hot)
        hotter = arm.score([asked] * len(one.answers), one.answers, width=0, slack=0.0)
        masses = np.array([np.prod(replay.prob) for replay in hotter])
        law = np.array([own.prod() for own in one.masses])
        assert 1 == pytest.approx(law.sum(), abs=1e-3)  # nearly all that can be answered came
        counts = np.round(made["draws"] * masses)
        strata.append(stratified.against_law(counts, law / law.sum(), floor=100, noise=0.0))

    design = stratified.design(strata, floor=100, false_alarm=sampled.share(of), miss=of.design.miss)

    assert sum(one.statistic for one in strata) >= 4 * sum(one.weight for one in strata) * design.detectable**2
