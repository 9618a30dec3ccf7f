"""Asks go to the replicas in turn, a failure ends its batch alone, and no key reaches anything that is kept."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import threading
import time
import traceback
from contextlib import ExitStack, nullcontext

import pytest

from draftgate.canaries.targets.servers.errors import (
    Garbled,
    Hung,
    Lacking,
    NotServed,
    NotTheApi,
    RanBackwards,
    ServerError,
    ServerFailed,
    TextDiffers,
    Unfinished,
    Unsupported,
)
from draftgate.canaries.targets.servers.registry import APIS
from draftgate.canaries.targets.servers.secrets import REDACTED, Secret
from draftgate.canaries.targets.servers.server import Server
from draftgate.canaries.targets.servers.texts import check_text
from draftgate.canaries.targets.servers.transport import Transport
from served import PROMPT, answering, ask, connection, served
from servers_loopback import Loopback, kind, reply, stream, tokens_of

KEY = "sk-very-secret"
STREAMS, CHUNKS = 64, 40


def chunk(finish=None):
    return {"choices": [{"index": 0, "text": " a", "token_ids": [5], "finish_reason": finish}]}


def test_a_batch_goes_to_the_replicas_in_turn_and_each_answer_names_its_own():
    with ExitStack() as stack:
        loopbacks = [stack.enter_context(Loopback(kind("vllm"))) for _ in range(2)]
        urls = [loopback.url for loopback in loopbacks]
        server = stack.enter_context(Server(APIS["vllm"], connection(*urls), "tiny"))
        answers = server.ask([ask() for _ in range(5)])

        assert [answer.replica for (answer,) in answers] == ["replica 0", "replica 1"] * 2 + ["replica 0"]
        assert [len(loopback.bodies("/v1/completions")) for loopback in loopbacks] == [3, 2]
        assert server.counters().rounds == 5


def test_the_only_model_is_asked_for_and_one_of_several_must_be_named():
    with served("vllm") as (server, loopback):
        server.ask([ask()])
        assert loopback.bodies("/v1/completions")[0]["model"] == "tiny"

    two = {"data": [{"id": "a"}, {"id": "b"}]}
    with served("vllm", lambda _: reply(two)) as (server, _), pytest.raises(NotServed, match=r"2 .*\(a, b\); name one"):
        server.ask([ask()])


@pytest.mark.parametrize("document", [{"choices": [{"index": "x", "text": []}]}, {"choices": 3}, {"choices": [3]}])
@pytest.mark.parametrize("streams", [True, False])
def test_a_document_of_another_shape_is_a_finding(document, streams):
    answer = answering(lambda _: stream(document) if streams else reply(document))
    with served("vllm", answer) as (server, _), pytest.raises(Garbled) as caught:
        server.ask([ask({"stream": streams})])
    assert caught.value.finding


def test_the_first_failure_ends_the_batch_and_leaves_the_server_usable():
    failing = [True]

    def answer(asked):
        if asked.body.get("seed") == 1 and failing:
            return reply("out of memory", 500)
        return stream(chunk(), 5.0 if failing else 0, chunk("length"))

    with served("vllm", answering(answer)) as (server, _):
        begun = time.monotonic()
        with pytest.raises(ServerFailed, match="out of memory"):
            server.ask([ask(), ask(seed=1), ask()])
        assert time.monotonic() - begun < 4.0
        failing.clear()

        assert [a.generation.tokens for (a,) in server.ask([ask()])] == [(5, 5)]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("document", "kind_of", "told"),
    [({"error": {"message": "lost a worker"}}, ServerFailed, "lost a worker"), ([1], NotTheApi, "no object")],
)
def test_an_error_told_under_status_200_is_an_error(streams, document, kind_of, told):
    answer = answering(lambda _: stream(json.dumps(document)) if streams else reply(document))
    with served("vllm", answer) as (server, _), pytest.raises(kind_of, match=told):
        server.ask([ask({"stream": streams})])


def test_a_stream_that_hangs_ends_with_its_deadline():
    answer = answering(lambda _: stream(chunk(), 20.0))
    with served("vllm", answer, deadline_s=0.3) as (server, _), pytest.raises(Hung, match=r"0\.3 s"):
        server.ask([ask()])


def test_an_interruption_ends_the_batch_and_leaves_the_server_usable():
    hung = [20.0]
    answer = answering(lambda _: stream(chunk(), *hung, chunk("length")))
    with served("vllm", answer) as (server, _):
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            server.ask([ask(), ask()])
        timer.join()
        hung.clear()

        assert [a.generation.tokens for (a,) in server.ask([ask()])] == [(5, 5)]


def test_what_was_stopped_is_not_told_by_the_loop_and_any_other_failure_is(caplog):
    with served("vllm") as (server, _):
        loop = server._loop.get_loop()
        for error in (KeyboardInterrupt(), ZeroDivisionError("why")):
            loop.call_exception_handler({"message": "never retrieved", "exception": error})

    told = [record.getMessage() for record in caplog.records]
    assert ["never retrieved"] == told
    assert caplog.records[0].exc_info[0] is ZeroDivisionError


def test_counters_that_run_backwards_are_a_finding():
    engine = kind("vllm", rounds=3)
    with served("vllm", engine) as (server, _):
        before = server.counters()
        engine.rounds = 1
        with pytest.raises(RanBackwards, match="rounds went down from 3 to 1"):
            server.counted(before)


@pytest.mark.parametrize("text", ["<html>", "vllm:spec_decode_num_drafts_total NaN"])
def test_metrics_that_are_none_are_a_finding(text):
    with served("vllm", lambda _: reply(text, kind="text/plain")) as (server, _), pytest.raises(Garbled):
        server.counters()


def test_a_token_that_is_not_among_the_best_has_no_known_logprob():
    with served("llama_cpp") as (server, _):
        (row,) = server.score(PROMPT, (2,), 2)

    assert math.isnan(row.logprob)
    assert row.best == {tokens_of([*PROMPT], 1)[0]: -0.5}


def test_scores_by_text_alone_are_refused():
    with served("openai") as (server, _), pytest.raises(Unsupported, match="by text only"):
        server.score(PROMPT, (2,), 2)


def test_an_identity_tells_configuration_and_launch_and_nulls_what_is_not_told():
    with served("vllm", launched={"argv": ["vllm"]}) as (server, _):
        identity = server.identity()
    with served("vllm", answering(lambda _: reply("no", 404))) as (bare, _):
        nothing = bare.identity()["configuration"]

    assert (identity["server"], identity["model"], identity["launched"]) == ("vllm", "tiny", {"argv": ["vllm"]})
    assert identity["configuration"]["/version"] == [{"version": "0.32.0"}]
    assert nothing == {"/server_info": None, "/version": None}


def test_an_identity_keeps_no_secret_that_a_server_reports():
    engine = kind("sglang")
    told = {"api_key": "sk-other", "model_path": "m"}

    def answer(asked):
        return reply(told) if asked.path == "/get_server_info" else engine(asked)

    with served("sglang", answer) as (server, _):
        assert server.identity()["configuration"]["/get_server_info"] == [{"api_key": REDACTED, "model_path": "m"}]


def test_a_switch_in_configuration_or_launch_is_seen():
    with served("llama_cpp", launched={"argv": ["--spec-synth-len", "3"], "env": {}}) as (server, _):
        assert [found.kind for found in server.switches()] == ["synthetic"]
    with served("llama_cpp") as (server, _):
        assert server.switches() == []


def test_a_cache_is_reset_where_it_can_be():
    with served("vllm") as (server, loopback):
        server.reset()
        assert [asked.method for asked in loopback.asked if asked.path == "/reset_prefix_cache"] == ["POST"]
    with served("openai") as (server, _), pytest.raises(Unsupported, match="cannot be reset"):
        server.reset()


@pytest.mark.parametrize(
    ("name", "status"), [("vllm", 401), ("vllm", 404), ("vllm", 429), ("openai", 401), ("openai", 503)]
)
def test_a_server_that_refuses_is_alive(name, status):
    with served(name, lambda _: reply("no", status)) as (server, _):
        assert server.alive()


def test_a_server_that_says_that_it_is_not_well_is_not_alive():
    with served("vllm", lambda asked: reply("", 503) if asked.path == "/health" else reply({"data": []})) as (
        server,
        _,
    ):
        assert not server.alive()


def test_a_server_is_alive_as_long_as_it_answers():
    with Loopback(kind("vllm")) as loopback:
        server = Server(APIS["vllm"], connection(loopback.url), "tiny")
        assert server.alive()
    with server:
        assert not server.alive()


def leaking(asked):
    """A server that repeats the key wherever it can: in errors, in text, in its configuration."""
    told = asked.headers.get("authorization", "")
    if asked.path == "/v1/models":
        return reply({"data": [{"id": "tiny"}]})
    if asked.path in ("/server_info", "/version"):
        return reply({"args": told})
    choices = {
        0: stream({"choices": [{"index": 0, "text": told, "finish_reason": "length"}]}),
        1: reply(f"bad key {told}", 401),
        2: stream({"error": {"message": f"bad key {told}"}}),
        3: reply(f"{{{told}"),
        4: stream(f"{{{told}"),
        5: stream(f'data: {{"a": "{told}'.encode()),
        6: stream(b"data: \xff " + told.encode() + b"\n\n"),
        7: reply("", 307, Location=f"https://elsewhere/{told}"),
    }
    return choices[asked.body["seed"]]


def test_a_key_reaches_the_server_and_no_answer_identity_or_error(monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    kept = []
    with served("vllm", leaking, secret=Secret.read("A_KEY")) as (server, loopback):
        ((answer,),) = server.ask([ask()])
        kept += [json.dumps(answer.generation.to_json()), json.dumps(server.identity())]
        for seed, streams in ((1, True), (2, True), (3, False), (4, True), (5, True), (6, True), (7, True)):
            with pytest.raises(ServerError) as caught:
                server.ask([ask({"stream": streams}, seed=seed)])
            kept.append("".join(traceback.format_exception(caught.value)) + repr(caught.value))

        assert {asked.headers["authorization"] for asked in loopback.asked} == {f"Bearer {KEY}"}
    assert [text for text in kept if KEY in text] == []
    assert all("$A_KEY" in text for text in kept)


def test_the_client_keeps_up_with_many_streams_and_loses_no_chunk():
    """64 streams at once; every chunk arrives, and reading through us takes no more than three times a bare read.

    A ratio on the same machine at the same moment: how many chunks a second that is depends on the machine.
    """
    whole = [*[chunk() for _ in range(CHUNKS - 1)], chunk("length"), "[DONE]"]

    async def bare(url):
        async with Transport(connection(url, concurrency=STREAMS)) as transport:
            await asyncio.gather(*(transport.text("POST", "/v1/completions") for _ in range(STREAMS)))

    with served("vllm", answering(lambda _: stream(*whole)), model="tiny", concurrency=STREAMS) as (server, loopback):
        begun = time.thread_time()
        server._run(bare(loopback.url))
        between = time.thread_time()
        answers = server.ask([ask(max_tokens=CHUNKS) for _ in range(STREAMS)])
        ended = time.thread_time()

    assert [len(answer.generation.tokens) for (answer,) in answers] == [CHUNKS] * STREAMS
    assert ended - between < 3 * (between - begun)


@pytest.mark.parametrize("name", ["vllm", "llama_cpp"])
def test_a_conversation_is_encoded_by_the_servers_own_template(name):
    with served(name) as (server, _):
        tokens = server.encode([{"role": "user", "content": "hi"}])

    assert "".join(map(chr, tokens)) == "<user>hi<assistant>"


@pytest.mark.parametrize("name", ["vllm", "llama_cpp", "sglang"])
def test_ids_and_text_are_exchanged_by_the_servers_own_tokenizer(name):
    with served(name) as (server, _):
        assert server.tokens("ab") == (97, 98)
        assert server.text((5, 6)) == " w5. w6."


@pytest.mark.parametrize("name", ["openai", "tensorrt_llm"])
def test_without_a_tokenizer_to_ask_a_folder_is_named(name):
    with served(name) as (server, _), pytest.raises(Unsupported, match="name a tokenizer folder"):
        server.text((5, 6))


def test_without_a_template_to_ask_a_folder_is_named():
    with served("sglang") as (server, _), pytest.raises(Unsupported, match="applies no template"):
        server.encode([{"role": "user", "content": "hi"}])


def lying(**changes):
    """A vLLM whose answers are changed on their way out."""
    engine = kind("vllm")

    def answer(asked):
        if asked.path != "/v1/completions":
            return engine(asked)
        choice = {"index": 0, "text": " w3. w4.", "token_ids": [3, 4], "finish_reason": "length"}
        return stream({"choices": [choice | changes]}, "[DONE]")

    return answer


def told_logprobs(logprob):
    return {"logprobs": {"tokens": ["a"], "token_logprobs": [logprob]}}


FINDINGS = {
    "no finish reason": ({"finish_reason": None}, Unfinished, "without a finish reason"),
    "missing logprobs": ({}, Lacking, "no logprobs in the answer"),
    "logprobs of fewer tokens": (told_logprobs(-1.0), Garbled, "1 logprobs for 2 ids"),
    "logprobs that are no numbers": (told_logprobs("x"), Garbled, "another shape"),
    "ids that are none": ({"token_ids": ["x"]}, Garbled, "another shape"),
    "an answer nobody asked for": ({"index": 3}, Garbled, "index 3 where n is 1"),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_an_answer_that_no_server_may_give_is_a_finding(name):
    changes, kind_of, told = FINDINGS[name]
    with served("vllm", lying(**changes)) as (server, _), pytest.raises(kind_of, match=told) as caught:
        server.ask([ask({"logprobs": 1})])
    assert type(caught.value) is kind_of
    assert caught.value.finding
    assert str(caught.value).startswith("http://127.0.0.1:")


@pytest.mark.parametrize(("text", "differs"), [(" w3. w4.", False), (" w3. w5.", True), (" w3.", True)])
def test_ids_that_do_not_decode_to_the_text_are_a_finding(text, differs):
    with served("vllm", lying(text=text)) as (server, _):
        ((answer,),) = server.ask([ask()])
        with pytest.raises(TextDiffers, match="the ids decode to") if differs else nullcontext():
            check_text("here", answer.generation, (), server.text)
