"""A server is an arm: cold at each call, its end a token, its counts beside its answers, its faults named by role."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import replace

import pytest

from draftgate.canaries.errors import BrokenAnswer
from draftgate.canaries.targets.servers.asking import Answer, Ask
from draftgate.canaries.targets.servers.config import ArmConfig
from draftgate.canaries.targets.servers.counters import Counters
from draftgate.canaries.targets.servers.errors import ServerFailed, Unsupported
from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.server import Server
from draftgate.canaries.targets.servers.target import ServerTarget, counted, ended
from draftgate.engine.request import Arrival, Generation, Request
from served import PROMPT, answering, connection, request
from servers_loopback import EOS, Loopback, kind, reply, word

ANSWER = Generation(
    name="r", tokens=(5, 6), text="a", finish="eos", prefill=0, arrivals=(Arrival(0.1, 1), Arrival(0.2, 1))
)


@contextmanager
def arm(name, answer=None, role="candidate", words=None, **changes):
    """(target, loopback) of a kind of server."""
    with Loopback(answer or kind(name)) as loopback:
        config = ArmConfig(
            server=name,
            connection=connection(loopback.url),
            model="tiny",
            launch=None,
            **{"eos": (EOS,), "logprobs": 2, "draft_length": 4} | changes,
        )
        spell = words.decode if words else None
        with Server(APIS[name], config.connection, "tiny", spell=spell) as server:
            yield ServerTarget(role=role, server=server, config=config, words=words), loopback


def test_an_answer_comes_with_its_ids_and_the_counts_of_its_window():
    with arm("vllm") as (target, _):
        watched = target.watch([request(), request()])

    assert [len(g.tokens) for g in watched.generations] == [8, 8]
    assert watched.counters["window"] == {"rounds": 2, "drafted": 8, "accepted": 4, "emitted": 6, "by_position": [4, 0]}
    assert watched.counters["each"] == [None, None]
    assert 0 < max(a.seconds for g in watched.generations for a in g.arrivals) < watched.wall


def test_every_call_finds_a_cold_cache():
    with arm("vllm") as (target, loopback):
        for _ in range(2):
            target.generate([request(), request()])

    salts = [body["cache_salt"] for body in loopback.bodies("/v1/completions")]
    assert salts[0] == salts[1] != salts[2] == salts[3]


def test_a_cache_without_salt_is_emptied():
    with arm("sglang") as (target, loopback):
        target.generate([request()])
        assert target.identity()["server"]["prefix_cache"] == "reset"

    assert [asked.path for asked in loopback.asked if asked.path == "/flush_cache"] == ["/flush_cache"]


def test_a_prompt_is_encoded_once_by_the_servers_own_template():
    with arm("vllm") as (target, loopback):
        assert target.encode([{"role": "user", "content": "hi"}]) == target.encode([{"role": "user", "content": "hi"}])

    assert len(loopback.bodies("/tokenize")) == 1


def test_a_server_that_gives_no_ids_is_refused():
    with arm("openai") as (target, _), pytest.raises(Unsupported, match="no token ids"):
        target.generate([Request(name="r", prompt=(5, 6), max_tokens=3)])


def test_a_broken_answer_names_its_arm():
    broken = answering(lambda _: reply("{]"))
    with arm("vllm", broken, role="baseline") as (target, _), pytest.raises(BrokenAnswer, match="JSON") as error:
        target.score([request()], [(5, 6)], width=0, slack=0.0)

    assert error.value.role == "baseline"


def test_shapes_are_what_can_be_asked_for():
    with arm("vllm") as (target, _):
        assert [shape.label for shape in target.shapes([2, 5])] == ["", "again", "stepped", "alone"]
    with arm("llama_cpp") as (target, _):
        assert [shape.label for shape in target.shapes([2, 5])] == ["", "again", "alone"]


def test_a_score_has_a_place_for_every_token_and_both_ways_agree():
    with arm("vllm", scored) as (target, _):
        (whole,) = target.score([request()], [(5, 6)], width=0, slack=0.0)
        (stepped,) = target.score([request()], [(5, 6)], width=1, slack=0.0)

    assert whole == stepped
    assert whole.margin == (0.0, pytest.approx(math.log(3)))


def test_the_next_law_is_what_the_filters_keep():
    with arm("vllm", scored) as (target, _):
        laws = target.next_law([request(temperature=1.0), request(temperature=1.0, top_k=1), request()])

    assert laws == [{5: pytest.approx(0.75), 6: pytest.approx(0.25)}, {5: 1.0}, {5: 1.0}]


def scored(asked):
    """Token 5 has three quarters of all mass, token 6 the rest, wherever it is asked."""
    best = {5: math.log(0.75), 6: math.log(0.25)}
    if "prompt_logprobs" in asked.body:
        rows = [{str(t): {"logprob": v} for t, v in best.items()} for _ in asked.body["prompt"]]
        return reply({"choices": [{"index": 0, "text": "", "finish_reason": "length", "prompt_logprobs": rows}]})
    names = {f"token_id:{t}": v for t, v in best.items()}
    logprobs = {"tokens": ["token_id:5"], "token_logprobs": [best[5]], "top_logprobs": [names], "text_offset": []}
    choice = {"index": 0, "text": "", "token_ids": [5], "finish_reason": "length", "logprobs": logprobs}
    return reply({"choices": [choice]})


def test_an_end_that_is_not_listed_becomes_a_token():
    asked = Request(name="r", prompt=(1, 2), max_tokens=9, eos=(EOS, 7))
    whole = ended(ANSWER, asked)

    assert (whole.tokens, whole.arrivals[-1]) == ((5, 6, EOS), Arrival(0.2, 2))
    assert ended(whole, asked) == whole


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_an_answer_that_did_not_end_by_itself_stays_as_it_is(finish):
    cut = Generation(name="r", tokens=(5,), text="a", finish=finish, prefill=0, arrivals=())

    assert ended(cut, Request(name="r", prompt=(1, 2), max_tokens=9, eos=(EOS,))) == cut


def test_no_more_logprobs_are_asked_for_than_decide():
    with arm("vllm", scored, logprobs=200) as (target, loopback):
        target.score([request()], [(5, 6)], width=0, slack=0.0)
        target.next_law([request(temperature=1.0, top_k=20)])
        target.next_law([request(temperature=1.0)])

    asked = [body.get("prompt_logprobs", body.get("logprobs")) for body in loopback.bodies("/v1/completions")]
    assert asked == [10, 28, 200]


def test_where_only_answers_are_counted_the_window_is_their_sum():
    each = [
        Answer(generation=ANSWER, counted="ids", replica="0", counters=Counters(drafted=n, accepted=1)) for n in (3, 4)
    ]

    assert counted(Counters(emitted=9), each)["window"] == {"drafted": 7, "accepted": 2}
    assert counted(Counters(drafted=5, accepted=5), each)["window"] == {"drafted": 5, "accepted": 5}


class Spelt:
    """The tokenizer of every kind on loopback."""

    def decode(self, tokens):
        return "".join(map(word, tokens))

    def tokens(self, text):
        return tuple(map(int, re.findall(r"w(\d+)\.", text)))

    def encode(self, messages):
        return PROMPT


def test_ids_are_made_from_a_text_where_a_tokenizer_is_named_and_the_verdict_says_so():
    with arm("openai", words=Spelt()) as (target, _):
        assert target.encode([{"role": "user", "content": "hi"}]) == PROMPT
        (generation,) = target.generate([request()])
        told = target.unseen
    with arm("vllm") as (target, _):
        (by_ids,) = target.generate([request()])
        assert target.unseen == ()

    assert generation.tokens == by_ids.tokens
    assert [a.tokens for a in generation.arrivals][:-1] == [0] * (len(generation.arrivals) - 1)
    assert sum(a.tokens for a in generation.arrivals) == len(generation.tokens)
    assert "two spellings of one text look alike" in told[0]


def test_a_text_is_made_from_ids_where_the_server_gives_one_or_the_other():
    with arm("tensorrt_llm", words=Spelt()) as (target, _):
        (generation,) = target.generate([request()])

    assert generation.text == "".join(map(word, generation.tokens)) != ""


def test_logprobs_by_text_place_a_token_by_its_own_text():
    def told(asked):
        best = {word(5): math.log(0.75), word(6): math.log(0.25)}
        logprobs = {"tokens": [word(5)], "token_logprobs": [best[word(5)]], "top_logprobs": [best], "text_offset": []}
        return reply({"choices": [{"index": 0, "text": word(5), "finish_reason": "length", "logprobs": logprobs}]})

    with arm("openai", told, words=Spelt()) as (target, _):
        (replay,) = target.score([request()], [(5, 6, 9)], width=0, slack=0.0)
        assert target.next_law([request(temperature=1.0)]) == [None]

    assert replay.margin == (0.0, pytest.approx(math.log(3)), pytest.approx(math.log(3)))
    with arm("openai", told) as (target, _), pytest.raises(Unsupported, match="by text only"):
        target.score([request()], [(5,)], width=0, slack=0.0)


def test_what_a_server_refuses_is_kept_in_its_words_and_the_others_go_on():
    tool = {"type": "function", "function": {"name": "look"}}
    with arm("vllm", choosy) as (target, _):
        by_chat = Ask(request=request(), messages=({"role": "user", "content": "hi"},), stream=False)
        answered, refused = target.converse([by_chat, replace(by_chat, tools=(tool,))]).heard

    assert [answer.generation.text for answer in answered.answers] == ["hello"]
    assert (answered.refused, refused.answers) == (None, ())
    assert '400 ({"error": {"message": "no tools"}})' in refused.refused


def choosy(asked):
    """Chats, but takes no tools; lives on."""
    return reply({"error": {"message": "no tools"}}, status=400) if "tools" in asked.body else kind("vllm")(asked)


def test_a_conversation_finds_a_cold_cache_too():
    with arm("vllm") as (target, loopback):
        ask = Ask(request=request(), messages=({"role": "user", "content": "hi"},), stream=False)
        assert target.converse([ask, ask]).drafted == 8

    salts = [body["cache_salt"] for body in loopback.bodies("/v1/chat/completions")]
    assert salts[0] == salts[1]


def test_a_server_that_dies_of_a_conversation_is_lost():
    def dies(asked):
        if asked.path == "/metrics":
            return reply("", kind="text/plain")
        return reply({"error": "gone" if asked.path == "/health" else "oh"}, status=500)

    with arm("vllm", dies) as (target, _), pytest.raises(ServerFailed) as raised:
        target.converse([Ask(request=request(), messages=({"role": "user", "content": "hi"},), stream=False)])

    assert raised.value.lost == "candidate"


def test_a_failure_of_a_server_that_lives_on_is_a_refusal():
    def fails(asked):
        return kind("vllm")(asked) if asked.method == "GET" else reply({"error": "oh"}, status=500)

    with arm("vllm", fails) as (target, _):
        (heard,) = target.converse([Ask(request=request(), stream=False)]).heard

    assert "500" in heard.refused
