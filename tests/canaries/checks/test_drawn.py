"""What arms drew, read back: counted, grouped by what the judged arm has no say in, and paired without overlap."""

from collections import Counter

import numpy as np
import pytest
import sampled
from sampled import ANSWERS, FIRST, NEXT, drawn

from draftgate.canaries.checks.drawn import by_mass, contrary, first_tokens, read, whole_answers
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE
from draftgate.stats import stratified

FLOOR = {"floor": 100, "noise": 0.0}


@pytest.fixture
def honest():
    return drawn(np.random.default_rng(0))


def drawing(listed, rows=4):
    """Numbers of answers in calls."""
    return np.array([ANSWERS.index(answer) for answer in listed]).reshape(-1, rows)


def test_answers_and_first_tokens_are_counted(honest):
    listed = [(0, 0), (0, 1), (2, 0), (0, 0)]
    one = drawn(np.random.default_rng(0), drawn={CANDIDATE: drawing(listed), BASELINE: honest.drawn[BASELINE]})

    assert [2, 1, 0, 0, 1, 0, 0, 0] == one.counts(CANDIDATE).tolist()
    assert {0: 3, 2: 1} == one.firsts(CANDIDATE)
    assert 400 == sum(one.firsts(BASELINE).values())


def test_first_tokens_are_held_against_their_law(honest):
    found = first_tokens(honest, CANDIDATE, **FLOOR)

    counts = [honest.firsts(CANDIDATE)[token] for token in range(4)]
    assert found == stratified.against_law(counts, FIRST, **FLOOR)


def test_a_token_at_the_edge_that_was_borne_with_counts_as_the_rarest_kept_one(honest):
    law = {0: 0.5, 1: 0.5}
    one = drawn(np.random.default_rng(0), law=FIRST)
    kept = type(one)(one.canary, law, one.answers, one.masses, one.ended, one.drawn)
    firsts = one.firsts(CANDIDATE)

    found = first_tokens(kept, CANDIDATE, **FLOOR)

    assert found == stratified.against_law([firsts[0] + firsts[2] + firsts[3], firsts[1]], [0.5, 0.5], **FLOOR)


def unknown(one):
    """The same draws where plain decoding tells no mass."""
    masses = [np.full(len(answer), np.nan) for answer in one.answers]
    return type(one)(one.canary, None, one.answers, masses, one.ended, one.drawn)


def test_where_no_law_is_known_arms_are_held_against_each_other(honest):
    one = unknown(honest)
    both = [[honest.firsts(arm).get(token, 0) for token in range(4)] for arm in (CANDIDATE, BASELINE)]

    assert first_tokens(one, CANDIDATE, **FLOOR) == stratified.against_draws(*both, **FLOOR)
    assert whole_answers(one, CANDIDATE, **FLOOR).weight == 200
    assert by_mass(one, CANDIDATE, **FLOOR).cells == 1


def test_whole_answers_are_held_against_their_masses(honest):
    found = whole_answers(honest, CANDIDATE, **FLOOR)

    law = np.outer(FIRST, NEXT).ravel()
    assert found.weight == 400
    assert found.statistic == pytest.approx(stratified.against_law(honest.counts(CANDIDATE), law, **FLOOR).statistic)


def test_what_the_other_arm_did_not_draw_is_one_outcome():
    baseline = drawing([(0, 0)] * 200 + [(1, 0)] * 200)
    candidate = drawing([(0, 0)] * 150 + [(1, 0)] * 50 + [(0, 1)] * 100 + [(3, 1)] * 100)
    one = drawn(np.random.default_rng(0), drawn={CANDIDATE: candidate, BASELINE: baseline})

    found = by_mass(one, CANDIDATE, floor=50, noise=0.0)

    assert found == stratified.against_law([150, 50, 200], [0.3, 0.18, 0.52], floor=50, noise=0.0)


def test_answers_too_many_to_count_are_told_apart_by_their_first_tokens():
    """A million second tokens, as likely as one another: no whole answer comes twice."""
    rng, draws = np.random.default_rng(1), 800
    answers = [(int(first), n) for n, first in enumerate(rng.choice(4, p=FIRST, size=2 * draws))]
    made = {BASELINE: np.arange(draws).reshape(-1, 4), CANDIDATE: np.arange(draws, 2 * draws).reshape(-1, 4)}
    masses = [np.array([FIRST[first], 1e-6]) for first, _ in answers]
    one = drawn(rng, answers=answers, masses=masses, ended=np.ones(len(answers), bool), drawn=made)

    found = by_mass(one, CANDIDATE, **FLOOR)

    counts = [one.firsts(CANDIDATE)[token] for token in range(4)]
    assert found.statistic == pytest.approx(stratified.against_law(counts, FIRST, **FLOOR).statistic)


def test_answers_without_an_end_are_no_outcomes_of_a_law():
    """The candidate's first tokens alone: their masses are those of many answers, and would be counted twice."""
    answers = [*ANSWERS, (0,), (1,)]
    made = {BASELINE: drawing([(0, 0), (1, 0)] * 200), CANDIDATE: np.array([8, 9] * 200).reshape(-1, 4)}
    masses = [*(np.array([FIRST[a], NEXT[b]]) for a, b in ANSWERS), FIRST[:1], FIRST[1:2]]
    one = drawn(np.random.default_rng(0), answers=answers, masses=masses, ended=np.arange(10) < 8, drawn=made)

    assert by_mass(one, BASELINE, **FLOOR).cells == 1


@pytest.mark.parametrize(("calls", "rows"), [(0, 1), (0, 2), (0, 3), (1, 0)])
def test_no_answer_is_in_two_pairs_and_each_pair_is_as_far_apart_as_is_said(calls, rows):
    numbers = np.arange(28).reshape(7, 4)
    pairs = list(drawn(np.random.default_rng(0), drawn={CANDIDATE: numbers}).apart(CANDIDATE, calls, rows))

    assert max(Counter(number for pair in pairs for number in pair).values()) == 1
    assert {calls * 4 + rows} == {second - first for first, second in pairs}
    assert len(pairs) == {1: 14, 2: 14, 3: 7, 0: 12}[rows]


def observation():
    return sampled.observe(sampled.context(sampled.plain()))


@pytest.mark.parametrize(
    ("answer", "ended"),
    [([1, 2, 3], True), ([1, 2], False), ([1, 7], True), ([7, 1, 2], False), ([1, 2, 7], True), ([], False)],
)
def test_an_answer_ends_at_its_limit_or_with_its_end_and_no_further(answer, ended):
    prompt = {"canary": "x", "law": None, "answers": [answer], "prob": [[0.5] * len(answer)]}

    (found,) = read({"prompts": [prompt | {"baseline": [[0]], "candidate": [[0]]}]}, 3, [7])

    assert [ended] == found.ended.tolist()
    assert {answer[0] if answer else -1: 1} == found.firsts(BASELINE)


CONTRARY = {
    "a mass too much": (lambda one: one["law"][0].__setitem__(1, 0.9), "what may come after prose-1 is no law"),
    "a token twice": (lambda one: one["law"].append([one["law"][0][0], 0.0]), "what may come after prose-1 is no law"),
    "no token": (lambda one: one["law"].clear(), "what may come after prose-1 is no law"),
    "more than all mass": (lambda one: one["below"][0].__setitem__(0, 1.0), "below is 1 and prob"),
}


@pytest.mark.parametrize("name", CONTRARY)
def test_what_speaks_against_itself_is_told(name):
    change, expected = CONTRARY[name]
    made = observation()

    assert contrary(made) is None
    change(made["prompts"][0])
    assert contrary(made).startswith(expected)
