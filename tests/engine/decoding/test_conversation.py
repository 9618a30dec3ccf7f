"""An answer from a live cache is that of a fresh one, token for token; a cache that keeps too much is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from draftgate.canaries.faults.cache import KeepsRejected, KeepsTheOvershoot, KeepsWholeBlocks
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.decoding.conversation import Conversation
from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.decoding.speculative import SpeculativeDecoder
from draftgate.engine.drafters.draft_model import DraftModel
from draftgate.engine.drafters.ngram import NGram
from draftgate.engine.drafters.synthetic import Adversary, OddEven, Oracle, Uniform
from draftgate.engine.errors import PromptTooLong
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request, Sampling

DRAFTERS = ("plain", "draft", "self", "ngram", "uniform", "oracle", "odd-even", "adversary")
TURNS = ("Copy this text: bade mikasonu", "As JSON: name=kosi, age=41.", "Count from 7 to 12.", "Repeat exactly: zome")
VOCABULARY, EOS = 5, 4
GREEDY = Sampling()
TABLE, OTHER = (TableModel(peaked_table(VOCABULARY, 7, np.random.default_rng(seed))) for seed in (3, 4))
DRAFT = TableModel(TABLE.table + OTHER.table)  # now right, now wrong


def decoder_of(name, model, draft, k=4, new_cache=ContiguousCache):
    if name == "plain":
        return PlainDecoder(model=model, new_cache=new_cache)
    drafters = {
        "draft": lambda: DraftModel(draft, k),
        "self": lambda: DraftModel(model, k),
        "ngram": lambda: NGram(model.vocabulary, k, shortest=1),
        "uniform": lambda: Uniform(model.vocabulary, k),
        "oracle": lambda: Oracle(model.vocabulary, k, {}),
        "odd-even": lambda: OddEven(model.vocabulary, k, {}),
        "adversary": lambda: Adversary(model.vocabulary, k, {}),
    }
    return SpeculativeDecoder(model=model, drafter=drafters[name](), new_cache=new_cache)


class Said(list):
    """Live and fresh answers of one dialogue, and the entries kept for each."""

    @property
    def differing(self):
        return [live.name for live, fresh, _ in self if live.tokens != fresh.tokens]


def talk(model, decoder, turns=TURNS):
    """A dialogue in words on the embedded model: the visible text grows by the answers that were given."""
    live, messages, said = Conversation(decoder), [], Said()
    for number, words in enumerate(turns):
        messages.append({"role": "user", "content": words})
        asked = Request(name=str(number), prompt=model.encode(messages), max_tokens=24, eos=model.eos)
        answer = live.answer(asked)
        said.append((answer, PlainDecoder(model=model).generate([asked])[0], live.kept))
        messages.append({"role": "assistant", "content": answer.text})
    return said


def exchange(decoder, seed=0, turns=6, sampling=GREEDY):
    """A dialogue in ids on the table: every turn adds a few tokens behind the answer."""
    live, rng, prompt, said = Conversation(decoder), np.random.default_rng(seed), (), Said()
    for number in range(turns):
        prompt = (*prompt, *(int(t) for t in rng.integers(0, EOS, 6)))
        asked = Request(name=str(number), prompt=prompt, max_tokens=12, eos=(EOS,), sampling=sampling, seed=number)
        answer = live.answer(asked)
        said.append((answer, PlainDecoder(model=TABLE).generate([asked])[0], live.kept))
        prompt = (*prompt, *answer.tokens)
    return said


@pytest.mark.parametrize("name", DRAFTERS)
def test_answers_on_the_embedded_model_are_those_of_a_fresh_cache(name, target, draft):
    said = talk(target, decoder_of(name, target, draft))

    assert [] == said.differing
    assert 0 == said[0][2]
    assert all(kept > 20 for _, _, kept in said[1:])


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("name", DRAFTERS)
def test_answers_on_a_table_are_those_of_a_fresh_cache(name, k):
    assert [] == [n for seed in range(3) for n in exchange(decoder_of(name, TABLE, DRAFT, k), seed).differing]


def test_drawn_tokens_are_those_of_a_fresh_cache_too():
    sampling = Sampling(temperature=1.3, top_k=3)

    assert [] == exchange(decoder_of("plain", TABLE, None), sampling=sampling).differing


def test_all_that_was_fed_of_the_visible_text_is_kept():
    said = exchange(decoder_of("plain", TABLE, None))

    held = [0]
    length = 0
    for live, _, _ in said:
        length += 6 + len(live.tokens)
        held.append(length - 1)  # the last token was never fed
    assert held[:-1] == [kept for _, _, kept in said]


def test_another_text_keeps_only_what_it_shares():
    live = Conversation(decoder_of("plain", TABLE, None))
    first = Request(name="a", prompt=(0, 1, 2, 3), max_tokens=3)
    live.answer(first)
    for prompt, kept in (((0, 1, 3, 3, 0), 2), ((2, 2), 0), ((2, 2), 1)):
        answer = live.answer(replace(first, prompt=prompt))

        assert kept == live.kept
        assert PlainDecoder(model=TABLE).generate([replace(first, prompt=prompt)])[0].tokens == answer.tokens


def test_a_request_that_is_refused_leaves_the_conversation_usable():
    class Short(TableModel):
        positions = 12

    live = Conversation(PlainDecoder(model=Short(TABLE.table)))
    asked = Request(name="a", prompt=(0, 1, 2, 3), max_tokens=3)
    live.answer(asked)

    with pytest.raises(PromptTooLong):
        live.answer(replace(asked, max_tokens=20))
    assert PlainDecoder(model=TABLE).generate([asked])[0].tokens == live.answer(asked).tokens


@pytest.mark.parametrize("cache", [KeepsRejected, KeepsTheOvershoot, KeepsWholeBlocks])
def test_a_cache_that_keeps_too_much_changes_answers(cache, target, draft):
    orders = [TURNS[first:] + TURNS[:first] for first in range(3)]
    found = [talk(target, decoder_of("draft", target, draft, 4, cache), order).differing for order in orders]

    assert sum(map(len, found)) > 0


@pytest.mark.parametrize("cache", [KeepsTheOvershoot, KeepsWholeBlocks])
def test_what_a_session_keeps_too_much_is_not_seen_in_single_answers(cache, target, draft):
    asked = Request(
        name="a", prompt=target.encode([{"role": "user", "content": TURNS[0]}]), max_tokens=24, eos=target.eos
    )

    (answer,) = decoder_of("draft", target, draft, 4, cache).generate([asked])

    assert PlainDecoder(model=target).generate([asked])[0].tokens == answer.tokens
