"""Real engines, started as the examples say: what they offer, and that they are the embedded family."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tolerances
from draftgate import harness
from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.canaries.targets.servers import config
from draftgate.canaries.targets.servers.arms import opened
from draftgate.canaries.targets.servers.asking import Ask
from draftgate.canaries.targets.servers.probe import probe
from draftgate.engine.models import huggingface
from draftgate.engine.request import Request
from draftgate.suites import loader
from repository import ROOT

FOLDER = Path(os.environ.get("DRAFTGATE_SERVERS", "nowhere"))
NEEDED = {
    "text", "tokenizer", "chat template", "prompt as ids", "ids in answers", "text of ids", "streaming", "logprobs",
    "teacher forcing", "stop strings", "chat", "configuration", "no lossy switch",
}  # fmt: skip
ODD = ("", "a\n\n b  c\t.", "don't ABC_def-12.5e10", 'é—ü 漢字 🙂 x²½ ٣٤ {"a": [1]}', "<|user|>hi<|end|>")


def recipe(name, server):
    """A recipe's name, skipped where its server is not set up."""
    absent = not (FOLDER / server / "run.stamp").exists()
    reason = f"DRAFTGATE_SERVERS names no folder that `make {server}` set up"
    return pytest.param(name, marks=[pytest.mark.servers, pytest.mark.skipif(absent, reason=reason)])


LLAMA_CPP = [recipe("llama_cpp", "llama_cpp"), recipe("llama_cpp_ngram", "llama_cpp")]
REPAIRED, VLLM = recipe("vllm_repaired", "vllm"), [recipe("vllm", "vllm"), recipe("vllm_ngram", "vllm")]


@pytest.fixture
def arms(monkeypatch):
    monkeypatch.chdir(ROOT)
    return lambda name: config.read(ROOT / f"examples/{name}.toml")


@pytest.fixture
def judged(monkeypatch, tmp_path, capsys):
    """Status and document of a run by an example."""
    monkeypatch.chdir(ROOT)

    def run(name, suite="smoke"):
        words = ["run", suite, "--config", f"examples/{name}.toml", "--json", "--out", str(tmp_path / "run")]
        return harness.main(words), json.loads(capsys.readouterr().out)

    return run


@pytest.fixture(scope="module")
def model():
    return huggingface.load(EMBEDDED / "target")


@pytest.mark.parametrize("name", [*LLAMA_CPP, REPAIRED])
def test_both_arms_offer_what_a_run_needs(arms, tmp_path, name):
    for arm, settings in arms(name).items():
        with opened(settings, tmp_path / f"{arm}.log") as server:
            offered = {feature.name for feature in probe(server) if feature.offered}

        assert offered >= NEEDED, arm
        assert arm == "baseline" or "speculative counters" in offered


@pytest.mark.parametrize("name", [LLAMA_CPP[0], REPAIRED])
def test_the_baseline_is_the_embedded_target(arms, tmp_path, model, name):
    """Ids of odd texts and of every prompt, greedy answers, and logprobs by teacher forcing."""
    prompts = [(c.messages, model.encode(c.messages)) for c in loader.load("core").canaries]
    asks = [
        Ask(request=Request(name=str(i), prompt=ids, max_tokens=8, eos=model.eos))
        for i, (_, ids) in enumerate(prompts[::7])
    ]
    with opened(arms(name)["baseline"], tmp_path / "server.log") as server:
        assert [server.tokens(text) for text in ODD] == [tuple(model.tokenizer(text)["input_ids"]) for text in ODD]
        assert [server.encode(messages) for messages, _ in prompts] == [ids for _, ids in prompts]
        for ask, (answer,) in zip(asks, server.ask(asks), strict=True):
            tokens = answer.generation.tokens
            expected = logprobs(model, ask.request.prompt, tokens)
            rows = server.score(ask.request.prompt, tokens, 2)
            assert np.allclose(
                expected.max(axis=-1), [max(row.best.values()) for row in rows], atol=tolerances.NEAR_TIE
            )
            emitted = expected[np.arange(len(tokens)), list(tokens)]
            assert (emitted >= expected.max(axis=-1) - tolerances.NEAR_TIE).all()


@pytest.mark.parametrize("name", [*LLAMA_CPP, REPAIRED])
def test_an_honest_engine_passes(judged, name):
    status, document = judged(name)

    assert (status, document["verdict"]) == (0, "PASS")


@pytest.mark.parametrize("dtype", ["BF16", "F32"])
@pytest.mark.parametrize("name", [recipe("smollm2", "smollm2")])
def test_an_honest_engine_passes_with_a_public_model(judged, monkeypatch, name, dtype):
    monkeypatch.setenv("SMOLLM2_TYPE", dtype)
    status, document = judged(name, "fewshot")

    assert (status, document["verdict"]) == (0, "PASS")


@pytest.mark.parametrize("name", VLLM)
def test_an_engine_that_samples_at_another_temperature_is_held(judged, name):
    status, document = judged(name)

    assert (status, document["verdict"], document["culprit"]) == (1, "HOLD", "engine")
    assert {reason["reason"] for reason in document["reasons"]} == {"DISTRIBUTION"}


def logprobs(model, prompt, tokens):
    """(tokens, vocabulary) by the reference engine, before each token."""
    logits = model.native_logits([*prompt, *tokens])[len(prompt) - 1 : -1].astype(np.float64)
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
