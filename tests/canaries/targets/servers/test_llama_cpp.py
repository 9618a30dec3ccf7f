"""llama.cpp: its own end point, drafts told request by request."""

from __future__ import annotations

import math

import pytest

from draftgate.canaries.targets.servers.counters import Counters
from draftgate.canaries.targets.servers.errors import Unsupported
from draftgate.canaries.targets.servers.llama_cpp import LlamaCpp
from served import PROMPT, ask, served
from servers_loopback import tokens_of, word

TOKENS = tuple(tokens_of([*PROMPT], 8))


def test_the_chain_is_sent_with_every_knob_of_it():
    """Its own order puts the temperature last: top-p then keeps fewer tokens than the law that is asked for."""
    body = LlamaCpp().body("tiny", ask(temperature=0.7, seed=3))

    assert body["samplers"] == ["temperature", "top_k", "top_p", "min_p"]
    assert {key: body[key] for key in ("temperature", "top_k", "top_p", "min_p", "min_keep", "mirostat")} == {
        "temperature": 0.7, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "min_keep": 0, "mirostat": 0
    }  # fmt: skip
    assert (body["prompt"], body["n_predict"], body["seed"], body["ignore_eos"]) == ([*PROMPT], 8, 3, True)


def test_a_salted_ask_uses_no_cache():
    assert LlamaCpp().body("tiny", ask())["cache_prompt"] is True
    assert LlamaCpp().body("tiny", ask({"salt": "a"}))["cache_prompt"] is False


def test_a_schema_is_passed_on():
    asked = ask({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}})

    assert LlamaCpp().body("tiny", asked)["json_schema"] == {"type": "object"}


@pytest.mark.parametrize(("best", "asked"), [(0, 1), (3, 3)])
def test_logprobs_of_the_emitted_tokens_alone_are_asked_for_too(best, asked):
    assert LlamaCpp().body("tiny", ask({"logprobs": best}))["n_probs"] == asked


def test_tools_cannot_be_asked_for():
    with pytest.raises(Unsupported, match="no tools; ask by chat"):
        LlamaCpp().body("tiny", ask({"tools": ({"type": "function"},)}))


@pytest.mark.parametrize("stream", [True, False])
def test_several_answers_are_kept_apart_and_their_drafts_counted_together(stream):
    with served("llama_cpp") as (server, _):
        (answers,) = server.ask([ask({"stream": stream, "n": 2}, temperature=1.0, seed=3)])

    assert [a.generation.tokens for a in answers] == [tuple(tokens_of([*PROMPT], 8, seed)) for seed in (3, 4)]
    assert {a.counters for a in answers} == {Counters(drafted=8, accepted=4, emitted=16)}


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_is_its_ids_with_its_own_drafts(stream):
    with served("llama_cpp") as (server, _):
        ((answer,),) = server.ask([ask({"stream": stream, "logprobs": 1})])

    assert (answer.generation.tokens, answer.generation.finish, answer.counted) == (TOKENS, "length", "ids")
    assert answer.generation.text == "".join(map(word, TOKENS))
    assert answer.counters == Counters(drafted=4, accepted=2, emitted=8)
    assert [row.token for row in answer.logprobs] == [*TOKENS]


def test_a_token_of_a_round_has_no_logprob_rather_than_0():
    with served("llama_cpp") as (server, _):
        ((answer,),) = server.ask([ask({"logprobs": 1})])
    first, *others = answer.logprobs

    assert (first.logprob, [*first.best]) == (-0.5, [TOKENS[0]])
    assert all(math.isnan(row.logprob) and not row.best for row in others)


def test_rounds_are_counted_by_the_server():
    with served("llama_cpp", model="tiny") as (server, _):
        before = server.counters()
        server.ask([ask()])

        assert server.counted(before) == Counters(rounds=1, drafted=4, accepted=2, emitted=3, by_position=(2, 0))


def test_an_answer_without_drafts_drafted_none():
    timings = {"predicted_n": 3, "predicted_per_second": 900.0}

    counters = LlamaCpp().read({"content": "", "tokens": [], "stop": True, "timings": timings}).counters

    assert counters == Counters(drafted=0, accepted=0, emitted=3)
    assert LlamaCpp().read({"content": "a", "tokens": [5], "stop": False}).counters is None


def test_a_stop_string_is_told():
    with served("llama_cpp") as (server, _):
        ((answer,),) = server.ask([ask(stop=(word(TOKENS[1]),))])

    assert answer.generation.finish == "stop"


def test_an_answer_is_scored_token_by_token():
    with served("llama_cpp") as (server, loopback):
        rows = server.score(PROMPT, TOKENS[:3], 2)
        prompts = [body["prompt"] for body in loopback.bodies("/completion")]

    assert [row[:2] for row in rows] == [(token, -0.5) for token in TOKENS[:3]]
    assert sorted(map(len, prompts)) == [3, 4, 5]


def test_a_conversation_goes_to_the_shared_api():
    with served("llama_cpp") as (server, loopback):
        server.ask([ask({"messages": ({"role": "user", "content": "hi"},), "stream": False})])

        assert len(loopback.bodies("/v1/chat/completions")) == 1


def test_a_format_without_a_schema_is_refused_rather_than_left_out():
    with pytest.raises(Unsupported, match="without a schema"):
        LlamaCpp().body("tiny", ask({"response_format": {"type": "json_object"}}))


def test_logprobs_by_chat_are_nan_where_a_round_tells_none():
    told = [{"id": 5, "logprob": -0.5, "top_logprobs": [{"id": 5, "logprob": -0.5}]}]
    told.append({"id": 6, "logprob": 0.0, "top_logprobs": []})
    first, second = LlamaCpp().logprobs({"logprobs": {"content": told}})

    assert first == (5, -0.5, {5: -0.5})
    assert (second.token, second.best) == (6, {})
    assert math.isnan(second.logprob)
    assert LlamaCpp().logprobs({"delta": {}}) is None
