"""Training on shapes so small that a step takes milliseconds."""

from __future__ import annotations

import sys
from itertools import islice, pairwise
from random import Random

import pytest
import torch

from draftgate.engine.models import huggingface
from draftgate.engine.training import train as training
from draftgate.engine.training.corpus import conversations
from draftgate.engine.training.tokenizer import ASSISTANT, END
from draftgate.engine.training.train import (
    IGNORED,
    batches,
    build,
    collate,
    encode,
    one_step,
    optimisers,
    rate,
    restore,
    save_checkpoint,
)

RECIPE = """
vocabulary = 300
tokenizer_samples = 40
seed = 3
positions = 256
batch_tokens = 256
warmup = 2
adamw_rate = 0.01
checkpoint_seconds = 0

[models.tiny]
layers = 1
width = 16
heads = 2
inner = 24
muon_rate = 0.02
steps = 6
"""
SHAPE = {"layers": 1, "width": 16, "heads": 2, "inner": 24, "muon_rate": 0.02}
SETTINGS = {"positions": 256, "adamw_rate": 0.01}


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    return build(SHAPE, SETTINGS, tokenizer)


def test_only_the_assistants_words_and_the_end_of_its_turn_are_learned(tokenizer):
    for talk in islice(conversations(Random(2)), 30):
        ids, labels = encode(tokenizer, talk)
        learned = [label for label in labels if label != IGNORED]

        assert tokenizer(talk[1]["content"])["input_ids"] + tokenizer.convert_tokens_to_ids([END]) == learned
        assert all(label in (IGNORED, token) for token, label in zip(ids, labels, strict=True))


def test_of_several_turns_each_answer_is_learned_and_no_question(tokenizer):
    talk = [{"role": role, "content": text} for role, text in [("user", "a"), ("assistant", "b")] * 2]
    ids, labels = encode(tokenizer, talk)
    opening = tokenizer.convert_tokens_to_ids(ASSISTANT)

    assert 4 == sum(label != IGNORED for label in labels)
    assert all(labels[place] == IGNORED for place, token in enumerate(ids) if token == opening)


def test_padding_takes_part_in_nothing():
    batch = collate([([5, 6, 7], [IGNORED, 6, 7]), ([8], [8])])

    assert [[5, 6, 7], [8, 0, 0]] == batch.tokens.tolist()
    assert [[1, 1, 1], [1, 0, 0]] == batch.mask.tolist()
    assert [[IGNORED, 6, 7], [8, IGNORED, IGNORED]] == batch.labels.tolist()


def test_batches_keep_to_their_size_and_lose_no_conversation(tokenizer):
    rows, stream = 0, batches(tokenizer, 512, Random(4))
    while rows < 1024:
        batch = next(stream)
        rows += len(batch.tokens)

        assert batch.tokens.numel() <= 512 or len(batch.tokens) == 1
    assert 1024 == rows


def test_the_rate_rises_straight_then_falls_to_a_fiftieth():
    shares = [rate(step, 100, 10) for step in range(101)]

    assert [0.1, 0.5, 1.0] == pytest.approx([shares[0], shares[4], shares[9]])
    assert 1 == pytest.approx(shares[10])
    assert all(a > b for a, b in pairwise(shares[10:]))
    assert 0.51 == pytest.approx(shares[55])
    assert 0.02 == pytest.approx(shares[100])


def test_every_parameter_has_one_optimiser(model):
    muon, adamw = optimisers(model, SHAPE, SETTINGS)
    groups = [p for o in (muon, adamw) for g in o.param_groups for p in g["params"]]

    assert {id(p) for p in model.parameters()} == {id(p) for p in groups}
    assert len(groups) == len(list(model.parameters()))
    assert all(p.ndim == 2 for g in muon.param_groups for p in g["params"])


def test_steps_lower_the_loss_and_steps_at_rate_zero_do_not(model, tokenizer):
    chosen = optimisers(model, SHAPE, SETTINGS)
    batch = next(batches(tokenizer, 512, Random(4)))
    still = [one_step(model, chosen, batch, 0.0) for _ in range(3)]
    moving = [one_step(model, chosen, batch, 1.0) for _ in range(4)]

    assert still[0] == pytest.approx(still[-1], rel=1e-6)
    assert moving[-1] < moving[0] == pytest.approx(still[0], rel=1e-6)


def test_the_rate_is_a_share_of_the_peak_and_not_of_the_last_rate(model, tokenizer):
    chosen = optimisers(model, SHAPE, SETTINGS)
    batch = next(batches(tokenizer, 256, Random(4)))
    for share in (0.5, 0.5, 0.25):
        one_step(model, chosen, batch, share)

    assert [0.005, 0.0025] == [g["lr"] for o in chosen for g in o.param_groups]


def test_a_checkpoint_gives_back_model_optimisers_and_step(model, tokenizer, tmp_path):
    """The next step after a restart is the one that would have come without it."""
    stream = list(islice(batches(tokenizer, 256, Random(4)), 3))
    chosen = optimisers(model, SHAPE, SETTINGS)
    for batch in stream[:2]:
        one_step(model, chosen, batch, 0.5)
    save_checkpoint(tmp_path / "deep" / "c.pt", model, chosen, 2)
    torch.manual_seed(9)
    other = build(SHAPE, SETTINGS, tokenizer)
    others = optimisers(other, SHAPE, SETTINGS)

    assert 2 == restore(tmp_path / "deep" / "c.pt", other, others)
    assert one_step(model, chosen, stream[2], 0.3) == one_step(other, others, stream[2], 0.3)
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
    assert [g["lr"] for o in chosen for g in o.param_groups] == [g["lr"] for o in others for g in o.param_groups]


def test_without_a_checkpoint_training_begins_at_the_first_step(model, tmp_path):
    before = [p.clone() for p in model.parameters()]

    assert 0 == restore(tmp_path / "none.pt", model, optimisers(model, SHAPE, SETTINGS))
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """The recipe of this file, and a list of the shares at which steps were made."""
    (tmp_path / "recipe.toml").write_text(RECIPE)
    monkeypatch.setattr(training, "RECIPE", tmp_path / "recipe.toml")
    shares = []

    def step(model, chosen, batch, share):
        if len(shares) == counted_stop[0]:
            raise KeyboardInterrupt
        shares.append(share)
        return one_step(model, chosen, batch, share)

    counted_stop = [-1]
    monkeypatch.setattr(training, "one_step", step)
    return shares, counted_stop


def test_an_interrupted_training_goes_on_where_it_stopped_and_leaves_a_folder_that_loads(counted, tmp_path):
    shares, stop = counted
    stop[0] = 4
    with pytest.raises(KeyboardInterrupt):
        training.train("tiny", tmp_path / "out")
    stop[0] = -1
    training.train("tiny", tmp_path / "out")
    model = huggingface.load(tmp_path / "out" / "tiny")

    assert [rate(step, 6, 2) for step in range(6)] == shares
    assert "float16" in (tmp_path / "out" / "tiny" / "config.json").read_text()
    assert model.tokenizer.chat_template is not None
    assert model.model.config.tie_word_embeddings
    assert 256 == model.positions


def test_the_command_takes_only_models_of_the_recipe(counted, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["train", "enormous", "--out", str(tmp_path)])

    with pytest.raises(SystemExit) as caught:
        training.main()
    assert 2 == caught.value.code
    assert "tiny" in capsys.readouterr().err
