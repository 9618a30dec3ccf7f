"""A key comes from the environment and shows in nothing but a header."""

from __future__ import annotations

import pytest

from draftgate.canaries.errors import UsageError
from draftgate.canaries.targets.servers.secrets import REDACTED, Secret, redacted, secret_name

KEY = "sk-very-secret"


def test_a_key_is_told_to_a_connection_only(monkeypatch):
    monkeypatch.setenv("A_KEY", f" {KEY}\n")
    secret = Secret.read("A_KEY")

    assert secret.headers() == {"Authorization": f"Bearer {KEY}"}
    assert KEY not in repr(secret) + str(secret)


def test_a_key_in_a_text_becomes_its_name(monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)

    assert Secret.read("A_KEY").scrub(f"bad key {KEY}!".encode()) == b"bad key $A_KEY!"


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)

    with pytest.raises(UsageError, match=r"A_KEY .*is not set; export it"):
        Secret.read("A_KEY")


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-é"])
def test_a_key_that_no_header_may_have_is_refused_without_showing_it(monkeypatch, key):
    monkeypatch.setenv("A_KEY", key)

    with pytest.raises(UsageError, match="set the key alone") as refused:
        Secret.read("A_KEY")
    assert key not in str(refused.value)


@pytest.mark.parametrize("name", ["HF_TOKEN", "--api-key", "admin_api_key", "apikey", "key", "Password"])
def test_a_name_of_a_secret_is_known(name):
    assert secret_name(name)


@pytest.mark.parametrize(
    "name", ["TOKENIZERS_PARALLELISM", "--max-num-batched-tokens", "keyword", "--tokenizer", "monkey"]
)
def test_a_name_that_holds_none_is_known(name):
    assert not secret_name(name)


def test_a_configuration_is_kept_without_its_secrets():
    told = {"args": [{"admin_api_key": KEY, "model": "m", "stop_token": 3, "api_key": None}]}

    assert redacted(told) == {"args": [{"admin_api_key": REDACTED, "model": "m", "stop_token": 3, "api_key": None}]}


STRUCK = {
    "a word behind its switch": (["serve", "--api-key", KEY, "--port", "8000"], 2),
    "a word with its switch": (["serve", f"--api-key={KEY}"], 1),
    "a command in one text": (f"serve --api-key {KEY} --port 8000", None),
    "a list under its name": ({"api_key": [KEY, "other"]}, "api_key"),
    "what Python prints": (f"args: {{'api_key': ['{KEY}'], 'port': 8000}}", None),
    "what a dataclass prints": (f"Config(api_key='{KEY}', port=8000)", None),
}


@pytest.mark.parametrize("name", STRUCK)
def test_a_secret_that_is_called_so_is_struck_wherever_a_server_tells_it(name):
    document, place = STRUCK[name]
    found = redacted(document)

    assert KEY not in str(found)
    assert REDACTED in str(found if place is None else found[place])
    assert ("8000" in str(document)) == ("8000" in str(found))


def test_a_secret_of_the_environment_is_struck_wherever_it_stands(monkeypatch):
    monkeypatch.setenv("HUB_TOKEN", KEY)
    monkeypatch.setenv("SHORT_TOKEN", "eight")
    told = {"note": f"logged in with {KEY}", "list": [KEY, "eight"], "other": 8}

    assert redacted(told) == {"note": "logged in with $HUB_TOKEN", "list": ["$HUB_TOKEN", "eight"], "other": 8}


PLAIN = [
    ["serve", "--max-num-batched-tokens", "512", "--tokenizer", "folder"],
    ["--api-key", "--port", "8000"],
    'serve m --speculative-config \'{"method": "ngram"}\' --no-key -x',
    {"stop_token": 3, "stop_token_ids": [3, 4], "api_key": "", "eos_token": [2]},
    "SpeculativeConfig(method='ngram', num_spec_tokens=4)",
]


@pytest.mark.parametrize("document", PLAIN)
def test_what_is_no_secret_stands(document):
    assert document == redacted(document)
