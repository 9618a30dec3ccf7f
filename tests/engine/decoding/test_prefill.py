import numpy as np
import pytest

from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.prefill import prefill, refuse, seeds
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.drafters.ngram import NGram
from draftgate.engine.errors import EngineError, PromptTooLong
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request, Sampling
from draftgate.engine.sampling import next_token_probs

MIXED = [Sampling(), Sampling(temperature=0.7, top_k=2), Sampling(temperature=1.3)]
PROMPTS = [(0, 1, 2), (3,), (2, 2, 1, 0, 3)]


class Short(TableModel):
    positions = 10


def test_the_first_law_is_the_models_under_each_requests_own_sampling(small):
    model = small.table_model()
    requests = [small.request(p, sampling=s) for p, s in zip(PROMPTS, MIXED, strict=True)]
    seen = prefill(model, ContiguousCache(3), requests)

    for row, (prompt, sampling) in enumerate(zip(PROMPTS, MIXED, strict=True)):
        assert np.array_equal(next_token_probs(model.law(prompt)[None, None], [sampling])[0, 0], seen[row])


def test_afterwards_the_cache_holds_the_prompts(small):
    cache = ContiguousCache(3)
    prefill(small.table_model(), cache, [small.request(prompt) for prompt in PROMPTS])

    assert [3, 1, 5] == cache.lengths.tolist()


@pytest.mark.parametrize(
    ("prompt", "limit", "kind", "message"),
    [
        ((), 3, EngineError, "request bad has an empty prompt; give it at least one token"),
        ((1,), 0, EngineError, "request bad asks for 0 tokens; ask for at least 1"),
        ((1,), -2, EngineError, "request bad asks for -2 tokens"),
        (
            (1,) * 8,
            3,
            PromptTooLong,
            r"bad: 8 prompt tokens \+ 3 to generate exceed the model's context of 10",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_before_the_model_is_asked(prompt, limit, kind, message, small):
    cache = ContiguousCache(2)
    requests = [small.request((1, 2)), small.request(prompt, max_tokens=limit, name="bad")]

    with pytest.raises(kind, match=message):
        prefill(Short(small.table_model().table), cache, requests)
    assert [0, 0] == cache.lengths.tolist()


def test_a_request_that_just_fits_is_served(small):
    model = Short(small.table_model().table)

    assert (1, 4) == prefill(model, ContiguousCache(1), [small.request((1,) * 7, max_tokens=3)]).shape


def test_seeds_come_in_the_order_of_the_requests(small):
    assert [5, 0, -3] == seeds([small.request(seed=s) for s in (5, 0, -3)]).tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stop": ("x", "")}, "empty stop string"),
        ({"seed": 2**63}, "seed 9223372036854775808"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_a_request_that_cannot_mean_anything_is_refused_in_one_line(change, words):
    model = TableModel(peaked_table(3, 2, np.random.default_rng(0)))

    with pytest.raises(EngineError, match=words) as refused:
        refuse(model, Request(name="r", prompt=(0, 1), max_tokens=2, **change))
    assert "\n" not in str(refused.value)


def test_no_requests_give_no_answers():
    model = TableModel(peaked_table(3, 2, np.random.default_rng(0)))

    assert PlainDecoder(model=model).generate([]) == []
    assert SpeculativeDecoder(model=model, drafter=NGram(3, 2)).generate([]) == []


def test_what_the_cache_holds_already_is_not_scored_again(small):
    model, cache = small.table_model(), ContiguousCache(3)
    prefill(model, cache, [small.request(prompt[:-1] or prompt) for prompt in PROMPTS])
    cache.rewind(np.array([2, 0, 3]))  # all but the last token, nothing, a part

    seen = prefill(model, cache, [small.request(prompt) for prompt in PROMPTS])

    assert [3, 1, 5] == cache.lengths.tolist()
    assert np.array_equal(prefill(model, ContiguousCache(3), [small.request(prompt) for prompt in PROMPTS]), seen)
