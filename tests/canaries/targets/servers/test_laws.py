"""A law told by its best tokens is that of all logits, or is not known; which of the two never depends on the token."""

from __future__ import annotations

import math

import numpy as np
import pytest

from draftgate.canaries.targets.replaying import replay
from draftgate.canaries.targets.servers.asking import TokenLogprob
from draftgate.canaries.targets.servers.errors import Lacking
from draftgate.canaries.targets.servers.laws import BEHIND, LEAST, deciding, law, listed, placed
from draftgate.engine.request import Sampling
from draftgate.engine.sampling import next_token_probs, softmax

VOCABULARY, MOST = 50, 20
SETTINGS = {
    "greedy": Sampling(),
    "top-k": Sampling(temperature=0.7, top_k=20),
    "top-p": Sampling(temperature=1.3, top_p=0.9),
    "cold top-p": Sampling(temperature=0.5, top_p=0.9),
    "min-p": Sampling(temperature=1.0, min_p=0.05),
    "hot": Sampling(temperature=1.3),
}


def logits_of(seed, scale):
    return np.random.default_rng(seed).normal(size=VOCABULARY) * scale


def told(logits, most=MOST):
    """The `most` best tokens with their log probabilities, as a server tells them."""
    logprobs = np.log(softmax(logits))
    return {int(token): float(logprobs[token]) for token in np.argsort(-logits)[:most]}


def law_by_id(best, sampling):
    found = law(best, sampling)
    return None if found is None else {int(t): m for t, m in zip(best.ids, found, strict=True) if m > 0}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("scale", [1, 4, 12])
def test_a_law_that_is_told_is_the_law_of_all_logits(name, scale):
    known = 0
    for seed in range(40):
        logits, sampling = logits_of(seed, scale), SETTINGS[name]
        found = law_by_id(listed(told(logits), MOST, "here"), sampling)
        whole = next_token_probs(logits[None, None], [sampling])[0, 0]
        known += found is not None
        if found is not None:
            assert max(abs(found.get(token, 0.0) - mass) for token, mass in enumerate(whole)) < 2e-4
            assert math.fsum(found.values()) == pytest.approx(1)
    assert known == 40 if name == "greedy" else known > 0 or scale < 12


@pytest.mark.parametrize("name", SETTINGS)
def test_so_many_as_decide_are_enough_for_any_law_and_fewer_of_top_k_are_not(name):
    sampling = SETTINGS[name]
    flat = np.linspace(0.01, 0.0, VOCABULARY)
    enough = deciding(sampling)

    assert law(listed(told(flat, enough), enough, "here"), sampling) is not None
    if sampling.top_k:
        fewer = sampling.top_k - 1
        assert law(listed(told(flat, fewer), fewer, "here"), sampling) is None


def test_what_ties_with_the_last_one_kept_beyond_the_list_leaves_the_law_open():
    sampling, logits = SETTINGS["top-k"], np.linspace(9.0, 0.0, VOCABULARY)
    most, kth = deciding(sampling), logits[sampling.top_k - 1]

    logits[most - 2 : most + 5] = logits[most - 2]
    assert law(listed(told(logits, most), most, "here"), sampling) is not None  # ties behind those that are kept
    logits[sampling.top_k - 1 : most + 5] = kth
    assert law(listed(told(logits, most), most, "here"), sampling) is None


def test_a_greedy_choice_is_decided_by_its_best_few():
    assert deciding(SETTINGS["greedy"]) == LEAST + BEHIND < deciding(SETTINGS["top-k"]) < deciding(SETTINGS["top-p"])


def test_where_hidden_tokens_decide_the_law_is_not_guessed():
    flat = listed(told(np.zeros(VOCABULARY)), MOST, "here")

    assert law(flat, SETTINGS["top-p"]) is None
    assert law(flat, SETTINGS["hot"]) is None
    assert law(flat, Sampling(temperature=1.0, min_p=0.5)) is None
    assert law(flat, SETTINGS["top-k"]) is None  # all of them tie with the last one kept


def with_ties(logprob, ties):
    """As many tokens as top-k keeps, one of which has nearly all mass; hidden ones tie with the last."""
    most = SETTINGS["top-k"].top_k
    tail = np.full(most - 1, logprob) + np.linspace(0.5, 0.0, most - 1)
    rest = math.fsum(np.exp(tail)) + ties * math.exp(logprob)
    return listed(dict(enumerate([math.log(1 - rest), *tail])), most, "here")


@pytest.mark.parametrize(("logprob", "ties", "known"), [(-4.0, 0, True), (-4.0, 1, False), (-9.0, 3, True)])
def test_a_law_of_as_many_as_are_told_is_known_where_no_tie_has_room_for_mass_that_matters(logprob, ties, known):
    """Of 20 told and 20 kept: a hidden token as likely as the last would be kept too, if there is mass left for it."""
    best = with_ties(logprob, ties)
    found = law(best, SETTINGS["top-k"])
    whole = [*best.logprobs, *[logprob] * ties]
    true = next_token_probs(np.array(whole)[None, None], [SETTINGS["top-k"]])[0, 0]

    assert known == (found is not None)
    assert known == (true[len(best.ids) :].sum() < 1e-4)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_place_is_that_of_the_replay_with_all_logits(name):
    sampling = SETTINGS[name]
    for seed in range(30):
        logits = logits_of(seed, 5)
        best = told(logits)
        for token in list(best)[:: MOST // 4]:
            mine = placed(TokenLogprob(token, best[token], best), sampling, 1e-3, MOST, "here")
            theirs = replay(logits[None], [token], sampling, 1e-3)
            assert mine.margin == pytest.approx(theirs.margin)
            assert mine.gap == pytest.approx(theirs.gap)
            assert mine.outside == theirs.outside or math.isnan(mine.prob[0])
            if not math.isnan(mine.prob[0]):
                assert mine.prob == pytest.approx(theirs.prob, abs=2e-4)
                assert mine.below == pytest.approx(theirs.below, abs=2e-4)


def test_a_token_that_is_not_listed_is_no_nearer_than_the_last_and_outside_of_what_the_filters_keep():
    logits = logits_of(3, 5)
    best, unseen = told(logits, 30), int(np.argmin(logits))
    mine = placed(TokenLogprob(unseen, math.nan, best), SETTINGS["top-k"], 1e-3, 30, "here")

    assert mine.margin[0] == pytest.approx(max(best.values()) - min(best.values()))
    assert (mine.prob, mine.outside) == ((0.0,), (1,))
    assert mine.below[0] == pytest.approx(1)


def test_a_token_that_may_tie_with_the_last_one_kept_is_not_called_outside():
    best = told(logits_of(3, 5))
    unlisted = next(token for token in range(VOCABULARY) if token not in best)

    assert placed(TokenLogprob(unlisted, math.nan, best), SETTINGS["top-k"], 1e-3, MOST, "here").outside == (0,)


PEAKED = {0: -1e-5, 1: -12.0, 2: -13.0, 3: -14.0}  # the rest has less mass than moves any effect


@pytest.mark.parametrize("token", [0, 3, 77])
def test_where_fewer_are_told_than_are_kept_no_token_is_known_to_be_inside_or_outside(token):
    told = TokenLogprob(token, PEAKED.get(token, -15.0), PEAKED)
    place = placed(told, SETTINGS["top-k"], 1e-3, 4, "here")

    assert place.prob[0] == pytest.approx(math.exp(PEAKED.get(token, -99) / 0.7), abs=1e-4)
    assert math.isnan(place.outside[0])


@pytest.mark.parametrize(
    "sampling", [Sampling(temperature=0.7, top_k=3), Sampling(temperature=0.7, top_p=0.9), SETTINGS["min-p"]]
)
def test_where_as_many_are_told_as_are_kept_a_token_behind_them_is_outside(sampling):
    places = [
        placed(TokenLogprob(token, PEAKED.get(token, -15.0), PEAKED), sampling, 1e-3, 4, "here") for token in (0, 77)
    ]

    assert [(0.0,), (1.0,)] == [place.outside for place in places]


def test_a_token_that_hidden_ones_may_bring_inside_is_not_called_outside():
    """Of a top-p that the tokens ahead just reach among those told, and miss where what is hidden counts as well."""
    ahead, hidden = 0.9, 5e-5
    best = {0: math.log(ahead * (1 - hidden)), 1: math.log((1 - ahead) * (1 - hidden) - 1e-6), 2: math.log(1e-6)}
    edge = Sampling(temperature=1.0, top_p=ahead - hidden / 4)
    place = placed(TokenLogprob(1, best[1], best), edge, 0.0, 3, "here")

    assert place.outside != (1.0,)


def test_whether_a_place_is_known_does_not_depend_on_the_token():
    """vLLM lists the emitted token beside the best ones: it must not help to decide."""
    for seed in range(60):
        logits = logits_of(seed, 2)
        best, logprobs = told(logits), np.log(softmax(logits))
        places = [
            placed(
                TokenLogprob(token, float(logprobs[token]), {**best, token: float(logprobs[token])}),
                SETTINGS["top-p"],
                1e-3,
                MOST,
                "here",
            )
            for token in range(VOCABULARY)
        ]
        assert len({math.isnan(place.prob[0]) for place in places}) == 1


def test_tokens_drawn_from_a_law_that_is_told_have_uniform_places():
    rng, sampling, places = np.random.default_rng(1), SETTINGS["top-p"], []
    for seed in range(2000):
        logits = logits_of(seed, 6)
        token = int(rng.choice(VOCABULARY, p=next_token_probs(logits[None, None], [sampling])[0, 0]))
        best = told(logits)
        place = placed(TokenLogprob(token, best.get(token, math.nan), best), sampling, 1e-3, MOST, "here")
        if not math.isnan(place.prob[0]):
            places.append(place.below[0] + rng.uniform() * place.prob[0])

    assert len(places) > 1000
    worst = max(abs((np.array(places) < x).mean() - x) for x in np.linspace(0, 1, 50))
    assert worst < math.sqrt(math.log(2 / 1e-9) / 2 / len(places))  # DKW at one in 1e9


def test_one_logprob_tells_no_gap():
    with pytest.raises(Lacking, match="1 of 20 logprobs"):
        listed({3: -0.1}, 20, "here")
