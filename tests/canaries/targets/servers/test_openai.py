"""The shared API: what is asked stands in the body, and what it cannot be asked is refused before anything is sent."""

from __future__ import annotations

import pytest

from draftgate.canaries.targets.servers.errors import Unsupported
from draftgate.canaries.targets.servers.openai import OpenAI, token_of
from served import ask, served
from servers_loopback import tokens_of, word

PATH = "/v1/completions"
TEXT = "".join(map(word, tokens_of([5, 6, 7], 8)))


def test_a_completion_asks_for_exactly_what_was_asked():
    body = OpenAI().body("tiny", ask(temperature=0.7, top_p=0.9, stop=("b",), seed=3))

    assert body == {
        "model": "tiny", "prompt": [5, 6, 7], "max_tokens": 8, "n": 1, "stream": True, "seed": 3,
        "temperature": 0.7, "top_p": 0.9, "stop": ["b"], "stream_options": {"include_usage": True},
    }  # fmt: skip


def test_a_chat_asks_with_tools_and_a_format():
    messages = ({"role": "user", "content": "hi"},)
    asked = ask({"messages": messages, "tools": ({"x": 1},), "tool_choice": "auto", "response_format": {"y": 2}})
    body = OpenAI().body("tiny", asked)

    assert OpenAI().path(asked) == "/v1/chat/completions"
    assert (body["messages"], body["tools"], body["tool_choice"]) == ([*messages], [{"x": 1}], "auto")
    assert body["response_format"] == {"y": 2}
    assert "prompt" not in body


def test_logprobs_are_asked_for_in_the_form_of_each_end_point():
    assert OpenAI().body("tiny", ask({"logprobs": 3}))["logprobs"] == 3
    chat = OpenAI().body("tiny", ask({"logprobs": 3, "messages": ({"role": "user"},)}))
    assert (chat["logprobs"], chat["top_logprobs"]) == (True, 3)


@pytest.mark.parametrize("changes", [{"top_k": 4}, {"min_p": 0.1}])
def test_a_filter_that_the_api_lacks_is_refused_and_not_dropped(changes):
    with pytest.raises(Unsupported, match="cannot be asked of this API"):
        OpenAI().body("tiny", ask(temperature=1.0, **changes))


def test_a_salt_that_the_api_lacks_is_refused():
    with pytest.raises(Unsupported, match="salt 'a'"):
        OpenAI().body("tiny", ask({"salt": "a"}))


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_without_ids_is_its_text(stream):
    with served("openai") as (server, _):
        ((answer,),) = server.ask([ask({"stream": stream})])

    assert (answer.generation.text, answer.generation.tokens, answer.generation.finish) == (TEXT, (), "length")
    assert answer.counted == ("none" if stream else "usage")
    assert answer.usage["completion_tokens"] == 8


def test_logprobs_of_a_stream_are_those_of_the_whole():
    with served("openai") as (server, _):
        ((streamed,), (whole,)) = server.ask([ask({"stream": stream, "logprobs": 2}) for stream in (True, False)])

    assert streamed.logprobs == whole.logprobs
    assert whole.logprobs[0].best == {word(tokens_of([5, 6, 7], 1)[0]): -0.5, " no": -1.5}
    assert (streamed.counted, len(streamed.logprobs)) == ("logprobs", 8)


def test_the_first_token_of_an_echo_has_no_logprob():
    told = {"tokens": ["a", "b"], "token_logprobs": [None, -0.5], "top_logprobs": None}

    assert [row.token for row in OpenAI().logprobs({"logprobs": told})] == ["b"]


def test_chat_logprobs_are_read():
    row = {"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "b", "logprob": -1.0}]}
    (found,) = OpenAI().logprobs({"logprobs": {"content": [row]}})

    assert found == ("a", -0.5, {"b": -1.0})


def test_a_printed_id_is_an_id():
    assert (token_of("token_id:281"), token_of("281"), token_of("a")) == (281, "281", "a")


def test_a_tool_call_is_read():
    tools = ({"type": "function", "function": {"name": "look", "parameters": {}}},)
    asked = ask({"messages": ({"role": "user", "content": "hi"},), "tools": tools, "stream": False})
    with served("openai") as (server, _):
        ((answer,),) = server.ask([asked])

    assert answer.tool_calls == ({"name": "look", "arguments": '{"a": 1}'},)
