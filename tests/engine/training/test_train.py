"""Training on shapes so small that a step takes milliseconds."""

from __future__ import annotations

import sys
from itertools import islice, pairwise
from random import Random

import pytest
import torch

from draftgate.engine.models import huggingface
from draftgate.engine.training import train as training
from draftgate.engine.training.batches import batches
from draftgate.engine.training.corpus import KINDS
from draftgate.engine.training.network import build, losses
from draftgate.engine.training.train import (
    How,
    Lesson,
    Mixture,
    Report,
    one_step,
    optimisers,
    rate,
    restore,
    save_checkpoint,
)

RECIPE = f"""
vocabulary = 300
tokenizer_samples = 40
seed = 3
positions = 256
batch_tokens = 256
batches_a_step = 2
brief = false
warmup = 2
fall = 0.5
adamw_rate = 0.01
checkpoint_seconds = 0
report_steps = 2

[mixture]
until = 0.5
early = {{{", ".join(f"{kind} = 1" for kind in KINDS)}}}
late = {{{", ".join(f"{kind} = 2" for kind in KINDS)}}}
last = {{{", ".join(f"{kind} = 3" for kind in KINDS)}}}

[models.tiny]
layers = 2
width = 16
heads = 2
inner = 24
muon_rate = 0.02
steps = 6
exits = [1]
exit_weight = 0.1
"""
SHAPE = {"layers": 2, "width": 16, "heads": 2, "inner": 24, "muon_rate": 0.02}
SETTINGS = {"adamw_rate": 0.01}


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    return build(SHAPE, 256, tokenizer)


@pytest.fixture
def stream(tokenizer, talks):
    return batches(tokenizer, talks(4), 256, Random(4))


def test_the_rate_rises_straight_then_stays_then_falls_to_a_fiftieth():
    shares = [rate(step, 100, 10, 0.4) for step in range(101)]

    assert [0.1, 0.5, 1.0] == pytest.approx([shares[0], shares[4], shares[9]])
    assert {1.0} == set(shares[9:61])
    assert all(a > b for a, b in pairwise(shares[60:99]))
    assert 0.5 == pytest.approx(shares[80])
    assert 0.02 == pytest.approx(shares[100])


def test_the_mixture_goes_from_early_to_late_and_stays_until_the_rate_falls():
    mixture = Mixture({"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 2.0}, {"a": 3.0, "b": 3.0}, 0.5, 0.25)
    seen = []
    for mixture.progress in (0.0, 0.25, 0.5, 0.74, 0.75, 1.0):
        seen.append(tuple(mixture.shares().values()))

    assert [(1.0, 0.0), (0.5, 1.0), (0.0, 2.0), (0.0, 2.0), (3.0, 3.0), (3.0, 3.0)] == seen


def test_every_parameter_has_one_optimiser(model):
    muon, adamw = optimisers(model, SHAPE, SETTINGS)
    groups = [p for o in (muon, adamw) for g in o.param_groups for p in g["params"]]

    assert {id(p) for p in model.parameters()} == {id(p) for p in groups}
    assert len(groups) == len(list(model.parameters()))
    assert all(p.ndim == 2 for g in muon.param_groups for p in g["params"])


def test_steps_lower_the_loss_and_steps_at_rate_zero_do_not(model, stream):
    chosen = optimisers(model, SHAPE, SETTINGS)
    group = list(islice(stream, 2))
    still = [one_step(model, chosen, group, 0.0, How()) for _ in range(3)]
    moving = [one_step(model, chosen, group, 1.0, How()) for _ in range(4)]

    assert still[0] == pytest.approx(still[-1], rel=1e-6)
    assert moving[-1] < moving[0] == pytest.approx(still[0], rel=1e-6)


def test_the_rate_is_a_share_of_the_peak_and_not_of_the_last_rate(model, stream):
    chosen = optimisers(model, SHAPE, SETTINGS)
    for share in (0.5, 0.5, 0.25):
        one_step(model, chosen, [next(stream)], share, How())

    assert [0.005, 0.0025] == [g["lr"] for o in chosen for g in o.param_groups]


def test_a_lower_layer_learns_to_answer_where_it_is_asked_to(model, stream):
    """The upper layer's own loss is reported, and the weight decides whether the lower layer's counts."""
    batch = next(stream)
    chosen = optimisers(model, SHAPE, SETTINGS)
    before = [loss.item() for loss in losses(model, batch, 1)]
    reported = one_step(model, chosen, [batch], 1.0, How(1, 5.0))
    for _ in range(3):
        one_step(model, chosen, [batch], 1.0, How(1, 5.0))

    assert before[0] == pytest.approx(reported, rel=1e-6)
    assert losses(model, batch, 1)[1].item() < before[1]


def test_products_in_bfloat16_come_close(model, stream):
    batch = next(stream)
    chosen = optimisers(model, SHAPE, SETTINGS)
    exact, brief = (one_step(model, chosen, [batch], 0.0, How(brief=brief)) for brief in (False, True))

    assert exact == pytest.approx(brief, rel=0.01)
    assert exact != brief
    assert all(p.dtype == torch.float32 for p in model.parameters())


def test_a_pupil_comes_closer_to_its_teacher_and_away_from_the_text(model, tokenizer, stream):
    batch = next(stream)
    torch.manual_seed(5)
    master = build(SHAPE, 256, tokenizer)
    with torch.no_grad():
        for p in master.parameters():
            p.mul_(3)
    chosen, how = optimisers(model, SHAPE, SETTINGS), How(teacher=master)
    distances = [one_step(model, chosen, [batch], 1.0, how) for _ in range(8)]

    assert distances[-1] < distances[0]
    assert all(p.grad is None for p in master.parameters())


def test_each_step_has_a_lower_layer_whose_weight_grows():
    lesson = Lesson(shape={"exits": [1, 3], "exit_weight": 0.4}, rng=Random(1), teacher=None, brief=True)
    ways = [lesson.at(0.5) for _ in range(20)]

    assert {1, 3} == {way.exit_layer for way in ways}
    assert {0.2} == {way.exit_weight for way in ways}
    assert all(way.brief for way in ways)
    assert 0 == lesson.at(0).exit_weight


def test_a_teacher_is_listened_to_from_its_share_of_the_training_on(model):
    lesson = Lesson(
        shape={"exits": [], "exit_weight": 0.0, "taught_from": 0.5}, rng=Random(1), teacher=model, brief=False
    )

    assert [None, None, model, model] == [lesson.at(progress).teacher for progress in (0.0, 0.49, 0.5, 1.0)]


def test_a_model_without_exits_has_no_lower_layer():
    lesson = Lesson(shape={"exits": [], "exit_weight": 0.0}, rng=Random(1), teacher=None, brief=False)

    assert How() == lesson.at(0.5)


def test_the_report_is_of_the_steps_since_the_last(capsys):
    report = Report("m", 10, 2)
    for step, loss in enumerate([1.0, 2.0, 5.0, 6.0], start=1):
        report.add(step, loss)
    lines = capsys.readouterr().out.splitlines()

    assert ["m step 2/10 loss 1.5000", "m step 4/10 loss 5.5000"] == [" ".join(line.split()[:5]) for line in lines]


def test_a_checkpoint_gives_back_model_optimisers_and_step(model, stream, tokenizer, tmp_path):
    """The next step after a restart is the one that would have come without it."""
    chosen = optimisers(model, SHAPE, SETTINGS)
    for _ in range(2):
        one_step(model, chosen, [next(stream)], 0.5, How())
    save_checkpoint(tmp_path / "deep" / "c.pt", model, chosen, 2)
    torch.manual_seed(9)
    other = build(SHAPE, 256, tokenizer)
    others, third = optimisers(other, SHAPE, SETTINGS), next(stream)

    assert 2 == restore(tmp_path / "deep" / "c.pt", other, others)
    assert one_step(model, chosen, [third], 0.3, How()) == one_step(other, others, [third], 0.3, How())
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

    def step(model, chosen, group, share, how):
        if len(shares) == counted_stop[0]:
            raise KeyboardInterrupt
        shares.append(share)
        return one_step(model, chosen, group, share, how)

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

    assert [rate(step, 6, 2, 0.5) for step in range(6)] == shares
    assert "float16" in (tmp_path / "out" / "tiny" / "config.json").read_text()
    assert model.tokenizer.chat_template is not None
    assert model.model.config.tie_word_embeddings
    assert 256 == model.positions


def test_a_model_may_learn_from_one_trained_before_it(counted, tmp_path):
    text = (tmp_path / "recipe.toml").read_text()
    table = text[text.index("[models.tiny]") :]
    pupil = table.replace("tiny", "pupil").replace("exits = [1]", 'exits = []\nteacher = "tiny"')
    (tmp_path / "recipe.toml").write_text(text + pupil)
    for name in ("tiny", "pupil"):
        training.train(name, tmp_path / "out")

    assert 12 == len(counted[0])
    assert (tmp_path / "out" / "pupil" / "model.safetensors").exists()


def test_the_command_takes_only_models_of_the_recipe(counted, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["train", "enormous", "--out", str(tmp_path)])

    with pytest.raises(SystemExit) as caught:
        training.main()
    assert 2 == caught.value.code
    assert "tiny" in capsys.readouterr().err
