"""Transformers' own `generate` as a target: built, asked, looked into, and caught where it is made wrong."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.cache_utils import DynamicLayer
from transformers.generation import utils

from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.registry import CHECKS, ledger
from draftgate.canaries.contracts import Status
from draftgate.canaries.errors import BrokenAnswer, UsageError
from draftgate.canaries.observations import pairs, replays
from draftgate.canaries.observations.context import Context
from draftgate.canaries.targets import opening, reference, transformers
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.engine.errors import ModelMissing, ModelRefused, PromptTooLong, VocabularyMismatch
from draftgate.engine.request import Request, Sampling
from draftgate.suites import loader

FLOAT32 = 1e-4  # logits; float32 sums of these small models differ by less between shapes


@cache
def model():
    return transformers.load_target(reference.EMBEDDED / "target")


def build(text):
    return transformers.build(TargetSpec.parse(text), model())


def requests(count=3, tokens=12, **sampling):
    words = ["Count from 4 to 11.", "Say again, word for word: raku leme", "Tell a story."]
    prompts = [model().encode([{"role": "user", "content": text}]) for text in words[:count]]
    return [
        Request(name=f"r{n}", prompt=p, max_tokens=tokens, eos=model().eos, sampling=Sampling(**sampling), seed=n)
        for n, p in enumerate(prompts)
    ]


def stranger(folder, size=600):
    """A tiny random Llama that speaks letters of its own, its numbers in another order."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet(), reverse=True)
    words = Tokenizer(models.BPE({"<s>": 0} | {letter: n + 1 for n, letter in enumerate(letters)}, []))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<s>").save_pretrained(folder)
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(vocab_size=size, bos_token_id=None, eos_token_id=0, **shape)).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hf:method=beam", "hf:method=beam is not known; methods: plain, draft, lookup, early_exit, universal"),
        ("hf:depth=3", "target 'hf' has no option 'depth'"),
        ("hf:k=3", "hf:method=plain takes no k; options: it takes none"),
        ("hf:method=lookup,model=x", "hf:method=lookup takes no model; options: k"),
        ("hf:method=draft,k=0", "hf:k=0 is not a whole number from 1 to 64"),
        ("hf:method=early_exit,exit=20", "hf:exit=20 is not one of the first 19 layers of 20"),
        ("hf:method=universal", "hf:method=universal needs a draft of another vocabulary"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        build(text)

    assert "\n" not in str(caught.value)


def test_a_draft_is_refused_in_one_line_where_its_vocabulary_is_not_what_the_method_needs(tmp_path):
    folder, alike = stranger(tmp_path / "stranger"), stranger(tmp_path / "alike", size=1024)

    with pytest.raises(VocabularyMismatch, match="'stranger' has another vocabulary than the target"):
        build(f"hf:method=draft,model={folder}")
    with pytest.raises(VocabularyMismatch, match="'alike' has as many tokens as the target"):
        build(f"hf:method=universal,model={alike}")
    with pytest.raises(ModelMissing, match="no model at"):
        build(f"hf:method=draft,model={tmp_path / 'nowhere'}")


def test_a_model_that_cannot_leave_early_is_refused_in_one_line(tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel

    GPT2LMHeadModel(GPT2Config(vocab_size=1024, n_embd=16, n_layer=4, n_head=2, n_positions=64)).save_pretrained(
        tmp_path
    )
    for file in reference.EMBEDDED.glob("target/*token*.json"):
        shutil.copy(file, tmp_path)

    with pytest.raises(ModelRefused, match="GPT2LMHeadModel runs all its layers") as caught:
        transformers.build(TargetSpec.parse("hf:method=early_exit"), transformers.load_target(tmp_path))

    assert "\n" not in str(caught.value)


def test_a_device_that_is_not_there_is_refused_in_one_line():
    with pytest.raises(UsageError, match="hf:device=nonsense cannot be used here") as caught:
        transformers.load_target(reference.EMBEDDED / "target", device="nonsense")

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["hf", "hf:method=draft,k=3", "hf:method=lookup,k=2", "hf:method=early_exit,k=4,exit=7"]
)
def test_an_identity_is_plain_json_stays_the_same_and_names_no_place(text):
    one, again = build(text).identity(), build(text).identity()

    assert one == again == json.loads(json.dumps(one))
    assert one["model"] == build("hf").identity()["model"]
    assert str(reference.EMBEDDED) not in json.dumps(one)
    assert text == one["name"]


def test_what_cannot_be_served_is_refused():
    (request,) = requests(1)

    with pytest.raises(PromptTooLong):
        build("hf").check(replace(request, max_tokens=2000))
    with pytest.raises(UsageError, match="stop strings"):
        build("hf").check(replace(request, stop=("x",)))


@pytest.mark.parametrize("width", [0, 1, 5])
def test_teacher_forcing_says_what_the_reference_engine_says(width):
    asked = requests()
    answers = [g.tokens for g in build("hf").generate(asked)]
    ours = reference.ReferenceTarget(name="plain", model=reference.load_target(reference.EMBEDDED / "target"))

    for one, other in zip(
        ours.score(asked, answers, width=width, slack=0.0),
        build("hf").score(asked, answers, width=width, slack=0.0),
        strict=True,
    ):
        assert one.gap == pytest.approx(other.gap, abs=FLOAT32)
        assert max(other.margin) < FLOAT32


def test_the_first_law_is_that_of_the_reference_engine():
    asked = requests(temperature=0.7, top_k=20)
    ours = reference.ReferenceTarget(name="plain", model=reference.load_target(reference.EMBEDDED / "target"))

    for one, other in zip(ours.next_law(asked), build("hf").next_law(asked), strict=True):
        assert one.keys() == other.keys()
        assert list(one.values()) == pytest.approx(list(other.values()), abs=FLOAT32)


@pytest.mark.parametrize("k", [1, 6])
def test_a_knob_turns_the_draft_length_alone(k):
    arm = build("hf:method=draft,k=3").variant("hf", k=k)

    assert arm.draft_length == k
    assert k == max(r.drafted for g in arm.generate(requests()) for r in g.rounds)


@pytest.mark.parametrize("name", sorted({d for s in ("core", "smoke") for d in loader.load(s).synthetic.drafters}))
def test_every_synthetic_drafter_of_the_suites_drafts_and_changes_no_greedy_answer(name):
    plain = build("hf").generate(requests())
    arm = build("hf:method=draft,k=3").variant(name, k=4, answers={g.name: g.tokens for g in plain})
    found = arm.generate(requests())

    assert [g.tokens for g in plain] == [g.tokens for g in found]
    assert 4 == max(r.drafted for g in found for r in g.rounds)
    assert all(r.emitted == r.accepted + 1 - r.cut and r.accepted <= r.drafted for g in found for r in g.rounds)


def test_the_target_drafting_for_itself_is_never_refused():
    rounds = [r for g in build("hf").variant("self", k=3).generate(requests()) for r in g.rounds]

    assert all(r.accepted == r.drafted for r in rounds)


def test_greedy_answers_with_a_draft_of_another_vocabulary_are_those_of_plain_decoding(tmp_path):
    arm = build(f"hf:method=universal,k=4,model={stranger(tmp_path)}")
    found, plain = arm.generate(requests()), build("hf").generate(requests())

    assert [g.tokens for g in plain] == [g.tokens for g in found]
    assert any(r.drafted for g in found for r in g.rounds)
    assert all(r.drafted <= arm.draft_length for g in found for r in g.rounds)


@pytest.mark.parametrize(("text", "role"), [("hf", "baseline"), ("hf:method=lookup", "candidate")])
def test_what_the_library_raises_is_a_broken_answer_of_that_arm(text, role, monkeypatch):
    def breaks(*_, **__):
        raise AttributeError("no attribute\nand more")

    monkeypatch.setattr(utils.GenerationMixin, "generate", breaks)
    with pytest.raises(BrokenAnswer, match=r"raised AttributeError: no attribute$") as caught:
        build(text).generate(requests())

    assert role == caught.value.role


def judged(cell, *checks):
    """What checks say of a cell of the smoke suite that transformers has answered just now."""
    suite = loader.load("smoke")
    cell = next(c for c in suite.cells if c.name == cell)
    context = Context(suite=suite, baseline=build("hf"), candidate=build("hf:method=draft,k=5"), seed=0)
    made = {f"{cell.name}/pairs": pairs.observe(context, cell)}
    made[f"{cell.name}/replays"] = replays.observe(context, cell, made[f"{cell.name}/pairs"])
    header = {"candidate": context.candidate.identity(), "baseline": context.baseline.identity(), "seed": 0, "eos": [0]}
    case = Case(suite=suite, cell=cell, header=header, observations=made, ledger=ledger(suite, context.candidate.kind))
    return [CHECKS[check].judge(case).status for check in checks]


def accepts_all(ids, _, length, scores, **__):
    """A verifier that keeps every draft, whatever the target says of it."""
    last = torch.multinomial(scores[:, length].softmax(dim=-1), 1)
    return torch.cat([ids[:, -length:], last], dim=-1), torch.tensor(length)


@pytest.mark.slow
def test_a_verifier_that_keeps_every_draft_is_caught_and_the_librarys_own_is_not(monkeypatch):
    honest = judged("topp-8", "pit", "support", "algebra")
    monkeypatch.setattr(utils, "_speculative_sampling", accepts_all)

    assert [Status.PASS] * 3 == honest
    assert [Status.FAIL] == judged("topp-8", "support")


@pytest.mark.slow
def test_a_cache_that_keeps_refused_drafts_is_caught_and_the_librarys_own_is_not(monkeypatch):
    honest = judged("greedy-1", "exact_tokens", "algebra")
    real = DynamicLayer.crop
    monkeypatch.setattr(DynamicLayer, "crop", lambda self, most: real(self, min(most + 1, 0)))

    assert [Status.PASS] * 2 == honest
    assert [Status.FAIL] == judged("greedy-1", "exact_tokens")


def test_rows_of_logits_are_float32_and_finite():
    (logits,) = build("hf")._forced(requests(1), [(1, 2)], 0)

    assert logits.dtype == np.float32
    assert np.isfinite(logits).all()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"baseline": "plain"}, "baseline 'plain' and candidate 'hf:method=lookup' are not one engine"),
        ({"baseline": "hf:method=lookup"}, "use --baseline hf"),
        ({"baseline": "hf", "candidate": None}, "candidate 'draft:k=5' are not one engine"),
        ({"fault": "F06"}, "--fault F06 is planted into the reference engine only"),
    ],
)
def test_arms_of_two_engines_are_refused_in_one_line(asked, words):
    nothing = dict.fromkeys(("baseline", "candidate", "config", "model", "dtype", "fault"))
    said = nothing | {"candidate": "hf:method=lookup", "seed": 0} | asked

    with pytest.raises(UsageError, match=words) as caught:
        opening.in_process(opening.Asked(**said))

    assert "\n" not in str(caught.value)


def test_both_arms_are_on_one_set_of_weights():
    nothing = dict.fromkeys(("baseline", "config", "model", "dtype", "fault"))
    arms = opening.in_process(opening.Asked(**nothing, candidate="hf:method=lookup,k=3", seed=0))

    assert arms["baseline"].model is arms["candidate"].model
    assert (0, 3) == (arms["baseline"].draft_length, arms["candidate"].draft_length)
