"""The embedded family: what ships is what is recorded, small enough, and decodes elsewhere as it does here."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest
import torch
import transformers
from arms import context, embedded, plain
from safetensors import safe_open

from draftgate.canaries.observations.context import GREEDY
from draftgate.canaries.targets.reference import EMBEDDED
from draftgate.engine.training.ship import SUMS, sums
from draftgate.engine.training.train import RECIPE
from draftgate.suites import loader
from tolerances import NEAR_TIE

TOKENS = 72
MODELS = list(tomllib.loads(RECIPE.read_text())["models"])


def test_the_models_of_the_recipe_ship():
    assert sorted(MODELS) == sorted(path.name for path in EMBEDDED.iterdir() if path.is_dir())


def test_weights_are_those_whose_sums_are_committed():
    assert (EMBEDDED / SUMS).read_text("ascii") == sums(EMBEDDED)


def test_the_family_is_small():
    """Thirty megabytes for what is downloaded with the package, five million parameters for the target."""
    assert sum(path.stat().st_size for path in EMBEDDED.rglob("*") if path.is_file()) <= 30e6
    assert embedded().parameters <= 5e6


@pytest.mark.parametrize("path", sorted(EMBEDDED.glob("*/*.safetensors")), ids=lambda path: path.parent.name)
def test_weights_are_float16_on_disk(path):
    with safe_open(path, "pt") as file:
        assert {torch.float16} == {file.get_tensor(name).dtype for name in file.keys()}  # noqa: SIM118 - not a dict


@pytest.mark.parametrize("name", MODELS)
def test_shapes_are_the_recipes(name):
    shape = tomllib.loads(RECIPE.read_text())["models"][name]
    config = transformers.AutoConfig.from_pretrained(EMBEDDED / name)

    assert (shape["layers"], shape["width"], shape["inner"]) == (
        config.num_hidden_layers,
        config.hidden_size,
        config.intermediate_size,
    )


@pytest.mark.slow
def test_transformers_own_generate_gives_the_tokens_of_plain_decoding():
    """Over all core canaries. Where the two part, both tokens must be as good as tied by the engine's own logits."""
    suite, arm = loader.load("core"), plain()
    requests = context(suite=suite).requests(suite.canaries, tokens=TOKENS, sampling=GREEDY, label="generate")
    ours = [g for first in range(0, len(requests), 8) for g in arm.generate(requests[first : first + 8])]
    model = transformers.AutoModelForCausalLM.from_pretrained(EMBEDDED / "target", dtype=torch.float32).eval()
    parted = []
    for request, answer in zip(requests, ours, strict=True):
        theirs = generated(model, request)
        if theirs != answer.tokens:
            parted.append((request, answer.tokens, theirs))
    margins = [margin(arm, *one) for one in parted]

    assert len(requests) == len(suite.canaries)
    assert len(parted) <= 2
    assert max(margins, default=0.0) <= NEAR_TIE


def generated(model, request) -> tuple[int, ...]:
    """The new tokens of `generate`, greedy."""
    prompt = torch.tensor([request.prompt])
    with torch.inference_mode():
        out = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=request.max_tokens, do_sample=False
        )
    return tuple(out[0, len(request.prompt) :].tolist())


def margin(arm, request, ours, theirs) -> float:
    """How far the other token is from the best where two answers part, in logits; infinite for another length."""
    at = next((place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if at is None:
        return np.inf
    (replay,) = arm.score([request], [theirs[: at + 1]], width=0, slack=0.0)
    return replay.margin[at]


def test_a_token_that_is_no_near_tie_is_no_excuse():
    """The yardstick of the test above: another first token than the best is far from it."""
    suite, arm = loader.load("core"), plain()
    (request,) = context(suite=suite).requests(suite.of_kind("json")[:1], tokens=4, sampling=GREEDY, label="x")
    (answer,) = arm.generate([request])
    other = (answer.tokens[0] + 1) % embedded().vocabulary

    assert margin(arm, request, answer.tokens, (other, *answer.tokens[1:])) > NEAR_TIE
    assert np.isinf(margin(arm, request, answer.tokens, answer.tokens[:-1]))


def test_the_chat_template_has_all_four_roles():
    text = embedded().tokenizer.apply_chat_template(
        [{"role": role, "content": role} for role in ("system", "user", "assistant", "tool")], tokenize=False
    )

    assert ["system", "user", "assistant", "tool"] == re.findall(r"<\|(\w+)\|>(?=\w)", text)
