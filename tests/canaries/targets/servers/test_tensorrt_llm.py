"""TensorRT-LLM: nothing it would refuse is sent; its statistics are handed out once and summed here."""

from __future__ import annotations

from draftgate.canaries.targets.servers.counters import Counters
from draftgate.canaries.targets.servers.tensorrt_llm import TensorRTLLM
from served import PROMPT, ask, served
from servers_loopback import tokens_of, word

TOKENS = tuple(tokens_of([*PROMPT], 8))


def test_an_ask_by_ids_is_answered_in_ids():
    with served("tensorrt_llm") as (server, _):
        ((answer,),) = server.ask([ask()])

    assert (answer.generation.tokens, answer.generation.text, answer.counted) == (TOKENS, "", "ids")


def test_an_ask_by_text_or_with_stop_strings_is_answered_in_text():
    with served("tensorrt_llm") as (server, _):
        (by_text,), (stopped,) = server.ask([ask({"text": "one"}), ask(stop=(word(TOKENS[1]),))])

    assert by_text.generation.text
    assert (stopped.generation.text, stopped.generation.finish) == (word(TOKENS[0]), "stop")


def test_logprobs_of_the_emitted_tokens_alone_are_asked_for_too():
    assert TensorRTLLM().body("tiny", ask({"logprobs": 0}))["logprobs"] == 1


def test_statistics_that_are_handed_out_once_are_summed():
    with served("tensorrt_llm") as (server, _):
        nothing = server.counters()
        server.ask([ask(), ask()])
        before = server.counters()
        server.ask([ask(), ask(), ask()])

        assert nothing == Counters()
        assert before == Counters(rounds=2, drafted=8, accepted=4)
        assert server.counted(before) == Counters(rounds=3, drafted=12, accepted=6)


def test_without_speculation_its_counters_are_unknown():
    assert TensorRTLLM().counters('[{"iter": 1}, {"iter": 2, "specDecodingStats": null}]') == Counters()
