"""A probe tells what a server shows, believes no name, and calls a server that dies of a question a finding."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.errors import DiedOf, Hung, Unauthorised
from draftgate.canaries.targets.servers.probe import QUESTIONS, probe
from served import answering, served
from servers_loopback import DROP, KINDS, kind, reply

NEITHER = {"cache reset", "cache salt"}
TOKENIZER = {"tokenizer", "chat template", "text of ids"}
INSIDE = TOKENIZER | {"ids in answers", "teacher forcing", "speculative counters", "configuration", "cache reset"}
ABSENT = {
    "openai": INSIDE | {"top_k", "min_p", "cache salt"},
    "vllm": set(),
    "llama_cpp": {"cache reset"},
    "sglang": {"n answers", "cache salt", "chat template"},
    "tensorrt_llm": NEITHER | TOKENIZER,
}


def probed(name, answer=None):
    with served(name, answer) as (server, _):
        return {feature.name: feature for feature in probe(server)}


@pytest.mark.parametrize("name", KINDS)
def test_what_a_server_offers_is_what_it_showed(name):
    features = probed(name)

    assert [*features] == ["model", *QUESTIONS]
    assert {feature.name for feature in features.values() if not feature.offered} == ABSENT[name]


def without(field, status):
    """A vLLM that refuses one field."""
    engine = kind("vllm")
    return lambda asked: reply(f"no {field} here", status) if field in asked.body else engine(asked)


@pytest.mark.parametrize("status", [400, 422, 500, 501])
def test_a_field_that_is_refused_is_not_offered_and_the_rest_is(status):
    features = probed("vllm", without("logprobs", status))

    assert {feature.name for feature in features.values() if not feature.offered} == {"logprobs"}
    assert f"{status} (no logprobs here)" in features["logprobs"].shown


def test_a_server_that_names_itself_otherwise_is_believed_in_nothing():
    features = probed("vllm", kind("openai"))

    assert {feature.name for feature in features.values() if not feature.offered} >= INSIDE


def test_a_seed_that_does_not_repeat_is_told():
    calls = iter(range(1000))
    engine = kind("vllm")

    def answer(asked):
        asked.body["seed"] = next(calls)
        return engine(asked)

    assert not probed("vllm", answer)["seed"].offered


def test_a_filter_that_is_refused_does_not_hide_the_other():
    """vLLM takes no min_p where it speculates."""
    engine = kind("vllm")
    features = probed("vllm", lambda asked: reply("no", 400) if asked.body.get("min_p") else engine(asked))

    assert (features["top_k"].offered, features["min_p"].offered) == (True, False)


def test_a_lossy_switch_is_told():
    engine = kind("sglang")
    lossy = {"speculative_accept_threshold_single": 0.5}

    def answer(asked):
        return reply(lossy) if asked.path == "/get_server_info" else engine(asked)

    feature = probed("sglang", answer)["no lossy switch"]

    assert (feature.offered, feature.shown) == (False, "lossy: speculative_accept_threshold_single 0.5")


def test_a_server_that_dies_of_a_question_is_a_finding():
    engine, dead = kind("vllm"), []

    def answer(asked):
        if "response_format" in asked.body:
            dead.append(asked)
        return iter([DROP]) if dead else engine(asked)

    with pytest.raises(DiedOf, match="the server died of 'json_schema'") as caught:
        probed("vllm", answer)
    assert caught.value.finding


def test_an_engine_that_died_behind_a_front_that_answers_is_a_finding_at_its_question():
    """vLLM's front lists its models for a second after its engine has died, and says at `/health` that it has."""
    engine, dead = kind("vllm"), []

    def answer(asked):
        if asked.body.get("top_k"):
            dead.append(asked)
        return reply("engine dead", 500) if dead and asked.path != "/v1/models" else engine(asked)

    with pytest.raises(DiedOf, match="the server died of 'top_k'"):
        probed("vllm", answer)


def test_a_server_that_drops_one_request_and_lives_does_not_offer_it():
    engine = kind("vllm")
    features = probed("vllm", lambda asked: iter([DROP]) if "response_format" in asked.body else engine(asked))

    assert "connection ended" in features["json_schema"].shown
    assert features["no lossy switch"].offered


def test_a_server_that_hangs_is_asked_once_and_one_that_hangs_at_a_feature_is_asked_on():
    engine = kind("vllm")
    with served("vllm", lambda asked: iter([20.0]) if asked.body else engine(asked), deadline_s=0.3) as (server, seen):
        with pytest.raises(Hung, match=r"no end within 0\.3 s"):
            probe(server)
        assert sum(bool(asked.body) for asked in seen.asked) == 1
    answer = lambda asked: iter([20.0]) if "response_format" in asked.body else engine(asked)  # noqa: E731
    with served("vllm", answer, deadline_s=2.0) as (server, _):
        features = {feature.name: feature for feature in probe(server)}

    assert "no end within 2 s" in features["json_schema"].shown
    assert features["no lossy switch"].offered


def test_a_locked_server_cannot_be_probed():
    with pytest.raises(Unauthorised, match="key_env"):
        probed("vllm", answering(lambda _: reply("no", 401)))
