"""SGLang: both kinds of streams, verification counts, thresholds."""

from __future__ import annotations

import json

import pytest

from draftgate.canaries.targets.servers.counters import Counters
from draftgate.canaries.targets.servers.errors import Garbled, Unsupported
from draftgate.canaries.targets.servers.sglang import SGLang
from served import PROMPT, ask, served
from servers_loopback import kind, tokens_of, word

TOKENS = tuple(tokens_of([*PROMPT], 8))


def test_an_ask_stands_in_the_runtimes_fields():
    schema = {"type": "object"}
    asked = ask({"logprobs": 2, "response_format": {"json_schema": {"schema": schema}}}, temperature=0.7, seed=3)
    body = SGLang().body("tiny", asked)

    assert (body["input_ids"], body["return_logprob"], body["top_logprobs_num"]) == ([*PROMPT], True, 2)
    params = body["sampling_params"]
    assert (params["max_new_tokens"], params["sampling_seed"], params["top_k"]) == (8, 3, -1)
    assert json.loads(params["json_schema"]) == schema
    assert SGLang().body("tiny", ask({"text": "one"}))["text"] == "one"


@pytest.mark.parametrize("asking", [{"n": 2}, {"tools": ({},)}, {"salt": "a"}])
def test_what_its_end_point_cannot_be_asked_is_refused(asking):
    with pytest.raises(Unsupported):
        SGLang().body("tiny", ask(asking))


@pytest.mark.parametrize("cumulative", [True, False])
def test_both_kinds_of_streams_are_the_same_answer(cumulative):
    with served("sglang", kind("sglang", cumulative=cumulative)) as (server, _):
        ((streamed,), (whole,)) = server.ask([ask({"stream": s, "logprobs": 1}) for s in (True, False)])

    assert streamed.generation.tokens == whole.generation.tokens == TOKENS
    assert streamed.generation.text == whole.generation.text == "".join(map(word, TOKENS))
    assert streamed.logprobs == whole.logprobs
    assert [arrival.tokens for arrival in streamed.generation.arrivals] == [1, 3, 3, 1]
    assert streamed.counters == Counters(rounds=2, drafted=8, accepted=3, emitted=8)


def test_newer_names_of_counts_are_read():
    meta = {"completion_tokens": 1, "finish_reason": None, "spec_verify_ct": 1}
    meta |= {"spec_num_proposed_drafts": 4, "spec_num_correct_drafts": 2}

    assert SGLang().read({"text": "a", "meta_info": meta}).counters == Counters(
        rounds=1, drafted=4, accepted=2, emitted=1
    )


def test_a_stop_string_is_told():
    with served("sglang") as (server, _):
        ((answer,),) = server.ask([ask(stop=(word(TOKENS[1]),))])

    assert answer.generation.finish == "stop"


def test_an_answer_is_scored_in_one_request():
    with served("sglang") as (server, loopback):
        rows = server.score(PROMPT, TOKENS, 2)

        assert [row[:2] for row in rows] == [(token, -0.25) for token in TOKENS]
        assert len(loopback.bodies("/generate")) == 1


def test_scores_of_other_tokens_are_a_finding(monkeypatch):
    monkeypatch.setattr(SGLang, "forced", lambda *_: ("/generate", {"input_ids": [1, 2], "sampling_params": {
        "max_new_tokens": 1, "temperature": 0}, "return_logprob": True}))  # fmt: skip
    with served("sglang") as (server, _), pytest.raises(Garbled, match="other tokens"):
        server.score(PROMPT, (9,), 2)


def test_verification_passes_are_counted_and_gauges_are_not():
    with served("sglang") as (server, _):
        before = server.counters()
        server.ask([ask(), ask()])

        assert server.counted(before) == Counters(rounds=2)


def test_a_format_without_a_schema_is_refused_rather_than_left_out():
    with pytest.raises(Unsupported, match="without a schema"):
        SGLang().body("tiny", ask({"response_format": {"type": "json_object"}}))
