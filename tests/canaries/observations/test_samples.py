"""What is asked for, how, and what is kept of it."""

from dataclasses import replace

import numpy as np
import pytest
import sampled

from draftgate.canaries.observations import samples
from draftgate.canaries.observations.context import sampling_of
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.engine.request import Request

CELL, NUMBERS = sampled.CELL, sampled.NUMBERS


CALLS = []


class Watched(ReferenceTarget):
    """An arm whose calls are remembered."""

    __slots__ = ()

    def generate(self, requests):
        CALLS.append((self.name, list(requests)))
        return ReferenceTarget.generate(self, requests)


@pytest.fixture(scope="module")
def watched():
    """(what was observed, the calls in their order)."""
    CALLS.clear()
    baseline, candidate = sampled.plain(Watched), sampled.drafting(kind=Watched)
    return sampled.observe(sampled.context(candidate, baseline)), list(CALLS)


def sampling(calls):
    return [(name, requests) for name, requests in calls if requests[0].sampling.temperature]


def test_answers_are_asked_for_many_at_once_the_arms_in_turn_and_the_first_call_again(watched):
    made, calls = watched
    asked = sampling(calls)
    one = 2 * made["draws"] // NUMBERS.batch + 2

    assert len(asked) == one * len(made["prompts"])
    assert ["plain", "draft", "draft", "plain"] == [name for name, _ in asked[:4]]
    assert {NUMBERS.batch} == {len(requests) for _, requests in asked}
    assert asked[one - 2][1] == asked[0][1]
    assert asked[one - 1][1] == asked[1][1]


class OneAtATime(Watched):
    """An arm that is up only while the other one is not."""

    __slots__ = ()
    capabilities = ReferenceTarget.capabilities | {"launching"}


def test_arms_of_which_one_is_up_at_a_time_are_asked_one_after_the_other_and_tell_the_same(watched):
    together, calls = watched
    CALLS.clear()
    made = sampled.observe(sampled.context(sampled.drafting(kind=OneAtATime), sampled.plain(OneAtATime)))

    names = [name for name, _ in sampling(CALLS)]
    assert names == sorted(names, key=["plain", "draft"].index)
    for arm in ("plain", "draft"):
        assert [c for c in sampling(CALLS) if c[0] == arm] == [c for c in sampling(calls) if c[0] == arm]
    assert together == made


def test_every_answer_has_a_seed_of_its_own(watched):
    _, calls = watched
    seeds = [request.seed for _, requests in sampling(calls) for request in requests]

    assert len(set(seeds)) == len(seeds) - 3 * 2 * NUMBERS.batch  # the first calls' come twice


def test_requests_are_the_cells_but_for_their_length(watched):
    made, calls = watched
    (canary,) = (c for c in sampled.CANARIES if c.id == made["prompts"][0]["canary"])
    request = sampling(calls)[0][1][0]

    assert (sampling_of(CELL), NUMBERS.tokens) == (request.sampling, request.max_tokens)
    assert (*sampled.plain().encode(canary.messages), *made["prompts"][0]["prefix"]) == request.prompt


def test_all_that_came_is_kept_once_and_placed_by_the_baseline(watched):
    made, _ = watched
    for prompt in made["prompts"]:
        came = {n for arm in ("baseline", "candidate") for call in (*prompt[arm], prompt["again"][arm]) for n in call}
        assert came == set(range(len(prompt["answers"])))
        assert len({*map(tuple, prompt["answers"])}) == len(prompt["answers"])
        assert [[dict(prompt["law"])[a[0]] for a in prompt["answers"]]] == [[row[0] for row in prompt["prob"]]]


def test_tokens_are_placed_as_teacher_forcing_places_them(watched):
    made, calls = watched
    prompt, (_, (request, *_)) = made["prompts"][0], sampling(calls)[0]
    answers = prompt["answers"]

    replays = sampled.plain().score([request] * len(answers), answers, width=0, slack=0.0)

    for name in ("below", "prob", "outside"):
        for replay, row in zip(replays, prompt[name], strict=True):
            assert row == pytest.approx(getattr(replay, name))


def test_a_law_is_asked_for_once_and_only_doubtful_answers_are_scored():
    class Counting(ReferenceTarget):
        __slots__ = ()

        def next_law(self, requests):
            laws.extend(request.prompt for request in requests)
            return ReferenceTarget.next_law(self, requests)

        def score(self, requests, answers, *, width, slack):
            scored.extend(map(tuple, answers) if slack else ())
            return ReferenceTarget.score(self, requests, answers, width=width, slack=slack)

    laws, scored = [], []
    request = Request(name="", prompt=(0, 1), max_tokens=3, sampling=sampling_of(CELL))
    arm = sampled.plain(Counting)
    law = ReferenceTarget.next_law(arm, [request])[0]
    forbidden = next(token for token in range(sampled.VOCABULARY) if token not in law)
    answers = [(max(law), 1, 2), (max(law), 1, 3), (forbidden, 1, 2)]

    placed = samples._placed(arm, request, answers)
    outside = samples._outside(arm, request, answers, placed, 1e-6)

    ends = [(), (max(law),), (max(law), 1), (forbidden,), (forbidden, 1)]
    assert [(0, 1, *end) for end in ends] == laws
    assert [law[max(law)], 0.0] == [placed[0][0].prob, placed[2][0].prob]
    assert [answer for answer, row in zip(answers, placed, strict=True) if 0 in [t.prob for t in row]] == scored
    assert [1] == [outside[2][0]]


def test_places_are_the_most_open_of_the_greedy_answer_and_open_enough(watched):
    made, _ = watched
    arm = sampled.plain()
    for prompt in made["prompts"]:
        (canary,) = (c for c in sampled.CANARIES if c.id == prompt["canary"])
        request = Request(name="", prompt=arm.encode(canary.messages), max_tokens=CELL.tokens)
        (answer,) = arm.generate([request])
        (replay,) = arm.score([request], [answer.tokens], width=0, slack=0.0)
        place = len(prompt["prefix"])

        assert list(answer.tokens[:place]) == prompt["prefix"]
        assert replay.gap[place] == min(replay.gap[: CELL.tokens + 1 - NUMBERS.tokens])
        assert max(mass for _, mass in prompt["law"]) <= 1 - NUMBERS.least_open


def test_canaries_that_are_hardly_open_are_passed_over():
    of = sampled.suite(numbers=replace(NUMBERS, least_open=0.6))
    names = [prompt["canary"] for prompt in sampled.observe(sampled.context(sampled.plain(), of=of))["prompts"]]
    everything = [canary.id for canary in sampled.CANARIES]

    assert names != everything[: len(names)]
    assert names == sorted(names, key=everything.index)


def test_an_unknown_law_is_open_and_kept_as_such():
    made = sampled.observe(sampled.context(sampled.plain(), sampled.plain(sampled.Silent)))

    assert [None] * 3 == [prompt["law"] for prompt in made["prompts"]]
    assert {None} == {mass for prompt in made["prompts"] for row in prompt["prob"] for mass in row}


def test_the_number_of_draws_follows_from_what_is_known_there_and_its_noise():
    asked = []
    made = sampled.context(sampled.plain(), sampled.plain(sampled.Noisy))

    found = samples.observe(made, CELL, NUMBERS, lambda seen: asked.append(seen) or 2 * NUMBERS.batch)

    assert [samples.Open(3, 0, sampled.Noisy.error)] == asked
    assert (8, 2) == (found["draws"], len(found["prompts"][0]["candidate"]))


class SaysNothing(ReferenceTarget):
    """Every other sampled answer is empty."""

    __slots__ = ()

    def generate(self, requests):
        made = ReferenceTarget.generate(self, requests)
        return [replace(a, tokens=() if n % 2 else a.tokens, text="") for n, a in enumerate(made)]


def test_an_empty_answer_is_kept_and_not_scored():
    made = sampled.context(sampled.drafting(kind=SaysNothing))

    found = samples.observe(made, CELL, NUMBERS, lambda _: 300)
    empty = found["prompts"][0]["answers"].index([])

    assert ([], [], []) == tuple(found["prompts"][0][name][empty] for name in ("below", "prob", "outside"))
    assert "answers neither reach their limit nor an end" in sampled.finding(made.candidate).summary


def test_a_run_of_another_seed_draws_others(watched):
    made, _ = watched
    other = sampled.observe(sampled.context(sampled.drafting(), seed=1))

    assert np.any(np.array(made["prompts"][0]["answers"][:9]) != np.array(other["prompts"][0]["answers"][:9]))
    assert made == sampled.observe(sampled.context(sampled.drafting()))
