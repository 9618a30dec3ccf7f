"""vLLM: ids, teacher forcing, counters, salt."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.counters import Counters
from draftgate.canaries.targets.servers.vllm import VLLM
from served import PROMPT, ask, served
from servers_loopback import tokens_of, word

TOKENS = tuple(tokens_of([*PROMPT], 8))


def test_every_knob_is_sent_so_that_no_generation_config_stands_in():
    body = VLLM().body("tiny", ask({"salt": "s"}, temperature=0.7, top_k=20, eos=(2,)))

    assert (body["top_k"], body["top_p"], body["min_p"], body["repetition_penalty"]) == (20, 1.0, 0.0, 1.0)
    assert (body["stop_token_ids"], body["ignore_eos"], body["cache_salt"]) == ([2], False, "s")
    assert body["return_token_ids"]


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_is_its_ids(stream):
    with served("vllm") as (server, _):
        ((answer,),) = server.ask([ask({"stream": stream, "logprobs": 1})])

    assert (answer.generation.tokens, answer.counted) == (TOKENS, "ids")
    assert sum(arrival.tokens for arrival in answer.generation.arrivals) == 8
    assert [row.token for row in answer.logprobs] == [*TOKENS]


def test_a_stop_string_is_told_from_an_end_of_sequence():
    with served("vllm") as (server, _):
        ((answer,),) = server.ask([ask(stop=(word(TOKENS[1]),), eos=(2,))])

    assert (answer.generation.finish, answer.generation.text) == ("stop", word(TOKENS[0]))


def test_an_answer_is_scored_in_one_request():
    with served("vllm") as (server, loopback):
        rows = server.score(PROMPT, TOKENS, 2)
        (body,) = loopback.bodies("/v1/completions")

    assert [row[:2] for row in rows] == [(token, -0.25) for token in TOKENS]
    assert (body["prompt"], body["prompt_logprobs"]) == ([*PROMPT, *TOKENS], 2)


def test_counters_are_of_the_window():
    with served("vllm") as (server, _):
        before = server.counters()
        server.ask([ask(), ask()])

        assert server.counted(before) == Counters(rounds=2, drafted=8, accepted=4, emitted=6, by_position=(4, 0))


def test_without_speculation_its_counters_are_unknown_and_not_zero():
    assert VLLM().counters('vllm:generation_tokens_total{engine="0"} 3.0\n') == Counters(emitted=3)
