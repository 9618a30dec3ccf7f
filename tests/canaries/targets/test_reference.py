"""The reference engine as a target: built, asked, looked into, and told apart."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arms import draft, embedded, plain
from plants import Walk, strategies

from draftgate.canaries.errors import UsageError
from draftgate.canaries.faults.cache import KeepsTheOvershoot, keep_the_overshoot
from draftgate.canaries.targets import reference
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.errors import ModelMissing, VocabularyMismatch
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.engine.request import Request, Sampling
from draftgate.engine.verification.batched import BatchedLossless

FLOAT32 = 1e-4  # logits; float32 sums of these small models differ by less between shapes


def build(text, parts=None):
    return reference.build(TargetSpec.parse(text), embedded(), parts or Strategies())


def requests(count=3, **sampling):
    words = ["Count from 4 to 11.", "Say again, word for word: raku leme", "Tell a story."]
    prompts = [embedded().encode([{"role": "user", "content": text}]) for text in words[:count]]
    return [
        Request(name=f"r{n}", prompt=prompt, max_tokens=12, eos=embedded().eos, sampling=Sampling(**sampling), seed=n)
        for n, prompt in enumerate(prompts)
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vllm", "unknown target 'vllm'; targets: plain, draft"),
        ("oracle", "unknown target 'oracle'"),
        ("", "unknown target ''"),
        ("plain:k=3", "target 'plain' has no option 'k'; options: cache"),
        ("draft:depth=3", "target 'draft' has no option 'depth'; options: k, confidence, model, verify, cache"),
        ("draft:verify=loose", "draft:verify=loose is not known; use walk, batched"),
        ("draft:confidence=1", "draft:confidence=1 is not a number between 0 and 1, such as 0.4"),
        ("draft:confidence=.0", "draft:confidence=.0 is not a number between 0 and 1"),
        ("draft:confidence=high", "draft:confidence=high is not a number"),
        ("draft:k=0", "draft:k=0 is not a whole number from 1 to 64"),
        ("draft:k=--3", "draft:k=--3 is not a whole number from 1 to 64"),
        ("ngram:longest=x", "ngram:longest=x is not a whole number from 1 to 64"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(text, words):
    with pytest.raises(UsageError, match=words) as caught:
        build(text)

    assert "\n" not in str(caught.value)


def test_a_draft_that_is_not_there_is_refused_in_one_line(tmp_path):
    with pytest.raises(ModelMissing, match="no model at") as caught:
        build(f"draft:model={tmp_path}")

    assert "\n" not in str(caught.value)


def other_family(folder: Path) -> Path:
    """A tiny Llama that speaks four words of its own."""
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"<s>": 0, "a": 1, "b": 2, "c": 3}, unk_token="<s>"))
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<s>").save_pretrained(folder)
    shape = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    LlamaForCausalLM(LlamaConfig(vocab_size=4, **shape)).save_pretrained(folder)
    return folder


def test_a_draft_of_another_vocabulary_is_refused_in_one_line(tmp_path):
    folder = other_family(tmp_path / "stranger")

    with pytest.raises(VocabularyMismatch, match="draft 'stranger' has another vocabulary than the target") as caught:
        build(f"draft:model={folder}")

    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_draft_of_the_same_family_is_taken():
    assert build(f"draft:k=2,model={reference.EMBEDDED / 'draft'}").draft_length == 2


@pytest.mark.parametrize("width", [1, 2, 5])
def test_teacher_forcing_agrees_at_every_width(width):
    asked = requests()
    answers = [g.tokens for g in plain().generate(asked)]

    whole = plain().score(asked, answers, width=0, slack=0.0)
    parts = plain().score(asked, answers, width=width, slack=0.0)

    for one, other in zip(whole, parts, strict=True):
        assert one.gap == pytest.approx(other.gap, abs=FLOAT32)
        assert one.margin == pytest.approx(other.margin, abs=FLOAT32)
        assert one.below == pytest.approx(other.below, abs=FLOAT32)


def test_greedy_answers_have_no_margin_and_other_tokens_have_one():
    asked = requests()
    answers = [g.tokens for g in plain().generate(asked)]
    wrong = [(*tokens[:1], (tokens[1] + 1) % embedded().vocabulary, *tokens[2:]) for tokens in answers]

    right = plain().score(asked, answers, width=0, slack=0.0)
    other = plain().score(asked, wrong, width=0, slack=0.0)

    assert all(max(one.margin) < FLOAT32 for one in right)
    assert all(sum(one.outside) == 0 for one in right)
    assert all(one.margin[1] > FLOAT32 for one in other)
    assert all(one.outside[1] == 1 for one in other)


def test_answers_of_any_length_are_replayed_the_empty_one_too():
    asked = requests()
    tokens = plain().generate(asked)[0].tokens

    found = plain().score(asked, [tokens, tokens[:1], ()], width=2, slack=0.0)

    assert [len(tokens), 1, 0] == [len(one.margin) for one in found]


@pytest.mark.parametrize("text", ["plain", "draft:k=3", "ngram:k=2,longest=4", "self:k=1", "uniform"])
def test_an_identity_is_plain_json_and_stays_the_same(text):
    one, again = build(text).identity(), build(text).identity()

    assert one == again == json.loads(json.dumps(one))


def test_an_identity_names_no_place_of_this_machine():
    text = json.dumps(build(f"draft:k=2,model={reference.EMBEDDED / 'draft'}").identity())

    assert str(reference.EMBEDDED) not in text
    assert str(Path.home()) not in text
    assert not [part for part in json.loads(text).values() if isinstance(part, str) and part.startswith("/")]


def test_what_decides_the_answers_is_in_the_identity():
    arms = [
        build("draft:k=3"),
        build("draft:k=4"),
        build("ngram:k=3"),
        build("ngram:k=3,longest=5"),
        build("draft:k=3,verify=batched"),
        build("draft:k=3,verify=block"),
        build("draft:k=3,confidence=0.4"),
        build("draft:k=3", strategies(verifier=Walk())),
        build("self:k=3"),
    ]

    assert len(arms) == len({json.dumps(arm.identity(), sort_keys=True) for arm in arms})


def test_a_variant_keeps_the_strategies():
    walk = strategies(verifier=Walk())

    changed = draft(walk).variant("ngram", k=7)

    assert changed.strategies is walk
    assert ("ngram", 7, "ngram") == (changed.method, changed.draft_length, changed.name)


def test_exchanged_models_keep_the_strategies_and_the_options():
    walk = strategies(verifier=Walk())
    table = TableModel(peaked_table(4, 3, np.random.default_rng(0)))

    changed = draft(walk).on(table, table)

    assert (table, table, walk) == (changed.model, changed.draft, changed.strategies)
    assert changed.options == draft(walk).options


def test_the_batched_verifier_is_chosen_by_name():
    assert isinstance(build("draft:verify=batched").strategies.verifier, BatchedLossless)


def test_plain_decoding_promises_tokens_and_drafts_nothing():
    assert ("SAME_TOKENS", 0) == (plain().guarantee, plain().draft_length)
    assert ("SAME_LAW", 4) == (draft().guarantee, draft().draft_length)


def test_both_arms_give_the_same_greedy_answers():
    assert [g.tokens for g in plain().generate(requests())] == [g.tokens for g in draft().generate(requests())]


def test_logits_of_target_and_draft_precede_each_token():
    (asked,) = requests(1)
    (answer,) = plain().generate([asked])

    target, drafted = draft().recorded_logits(asked, answer.tokens)

    assert (len(answer.tokens), embedded().vocabulary) == target.shape == drafted.shape
    assert answer.tokens == tuple(target.argmax(axis=-1))
    assert not np.allclose(target, drafted)


def test_without_a_draft_the_recorded_law_is_another_one_still():
    (asked,) = requests(1)
    target, flattened = build("ngram").recorded_logits(asked, (1, 2))

    assert np.allclose(target / 2, flattened)


def test_exact_ties_are_broken_alike_in_both_arms():
    """Coarse numbers tie often: whatever is drafted, both arms take the first of the best tokens."""
    ties = TableModel(np.round(peaked_table(6, 3, np.random.default_rng(0))))
    own = TableModel(np.round(peaked_table(6, 3, np.random.default_rng(1))))
    asked = [Request(name=f"{n}", prompt=(n,), max_tokens=24, seed=n) for n in range(6)]
    arms = [plain().on(ties, own), *(build(text).on(ties, own) for text in ("ngram:k=3", "uniform:k=4"))]
    arms.append(replace(build("draft:k=4"), model=ties, draft=own))

    answers = [[g.tokens for g in arm.generate(asked)] for arm in arms]

    assert answers[1:] == [answers[0]] * 3
    gaps = [gap for replayed in arms[0].score(asked, answers[0], width=1, slack=0.0) for gap in replayed.gap]
    assert gaps.count(0.0) > 10


@pytest.mark.parametrize("text", ["plain", "draft:k=3", "ngram:k=3"])
def test_a_dialogue_is_held_by_the_arms_own_engine_and_keeps_what_was_said(text):
    arm, (asked, *_) = build(text), requests()
    dialogue = arm.dialogue()

    for kept in (0, len(asked.prompt) - 1):
        assert arm.generate([asked])[0].tokens == dialogue.answer(asked).tokens
        assert kept == dialogue.kept


def test_a_dialogue_runs_on_the_planted_cache():
    arm = build("ngram:k=3", keep_the_overshoot(Strategies()))

    assert isinstance(arm.dialogue()._cache, KeepsTheOvershoot)
