from __future__ import annotations

import sys

import pytest
import torch

from draftgate.engine.decoding.plain import PlainDecoder
from draftgate.engine.models.huggingface import HuggingFaceModel
from draftgate.engine.request import Generation, Round
from draftgate.engine.training import evaluate as evaluation
from draftgate.engine.training.evaluate import drawn, evaluate, requests, text
from draftgate.engine.training.network import build
from draftgate.engine.training.train import export

SHAPE = {"layers": 1, "width": 16, "heads": 2, "inner": 24}


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    return HuggingFaceModel(build(SHAPE, 1024, tokenizer), tokenizer, {})


def oracle(model, samples, rounds=()):
    """Answers every request with what the sample calls right, the end of the turn behind it."""
    answers = {model.encode(s.messages[:-1]): s.answer for s in samples}

    def decode(group):
        for request in group:
            tokens = (*model.tokenizer(answers[request.prompt])["input_ids"], *request.eos)
            yield Generation(
                name=request.name,
                tokens=tokens,
                text="",
                finish="eos",
                prefill=1,
                arrivals=(),
                rounds=rounds,
            )

    return lambda group: list(decode(group))


@pytest.mark.parametrize("kind", ["json", "tools", "code", "dialogue", "recall", "prose"])
def test_right_answers_are_all_counted(kind, model):
    samples = drawn(kind, 18, held=True)
    score = evaluate(model, oracle(model, samples), kind, samples)

    assert (18, 18, None) == (score.right, score.asked, score.accepted)
    assert score.wrong == ()
    assert "100 %" in score.line()


def test_a_model_that_learned_nothing_is_wrong_and_its_answers_are_kept(model, monkeypatch):
    monkeypatch.setattr(evaluation, "LONGEST", 8)
    samples = drawn("recall", 5, held=True)
    score = evaluate(model, PlainDecoder(model=model).generate, "recall", samples)

    assert 0 == score.right
    assert samples == [sample for sample, _ in score.wrong]
    assert score.tokens <= 40


def test_the_share_of_accepted_drafts_is_over_all_rounds(model):
    samples = drawn("recall", 4, held=True)
    score = evaluate(model, oracle(model, samples, (Round(4, 3, 4, 0), Round(4, 0, 1, 0))), "recall", samples)

    assert score.accepted == pytest.approx(3 / 8)
    assert "accepted 0.38" in score.line()


def test_samples_are_the_same_at_every_call_and_differ_by_side():
    assert drawn("json", 5, held=True) == drawn("json", 5, held=True) != drawn("json", 5, held=False)


def test_a_request_ends_with_the_turn_and_the_text_without_it(model):
    samples = drawn("recall", 1, held=True)
    (request,) = requests(model, samples)
    (answer,) = oracle(model, samples)([request])

    assert (model.tokenizer.eos_token_id,) == request.eos
    assert model.decode(request.prompt).endswith(samples[0].messages[-2]["content"])
    assert samples[0].answer == text(model, answer)


def test_the_command_prints_a_row_for_each_kind_with_and_without_a_draft(
    model, tokenizer, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(evaluation, "LONGEST", 6)
    export(model.model, tokenizer, tmp_path / "m")
    common = ["evaluate", str(tmp_path / "m"), "--number", "2", "--kinds", "json", "code", "--wrong", "1"]
    for more in ([], ["--draft", str(tmp_path / "m"), "--seen"]):
        monkeypatch.setattr(sys, "argv", [*common, *more])
        evaluation.main()
        lines = capsys.readouterr().out.splitlines()

        assert ["json", "code"] == [line.split()[0] for line in lines if "tokens" in line and "0/2" in line]
        assert any(line.startswith("  wanted ") for line in lines)
        assert bool(more) == any("accepted" in line for line in lines)
