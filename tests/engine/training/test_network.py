from random import Random

import pytest
import torch

from draftgate.engine.training.batches import IGNORED, batches
from draftgate.engine.training.network import build, losses, rotations

SHAPE = {"layers": 3, "width": 32, "heads": 4, "inner": 40}


@pytest.fixture
def model(tokenizer):
    torch.manual_seed(0)
    return build(SHAPE, 256, tokenizer)


@pytest.fixture
def batch(tokenizer, talks):
    return next(batches(tokenizer, talks(4), 1024, Random(4)))


def test_the_lean_pass_gives_the_loss_and_gradients_of_the_models_own(model, batch):
    """Though padding is not masked: no token that counts can see it.

    But for one row: transformers gives the embedding of the padding token no gradient, though it ends every turn too.
    """
    mine, _ = losses(model, batch)
    mine.backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model.model.embed_tokens.padding_idx = None
    theirs = model(input_ids=batch.tokens, attention_mask=torch.ones_like(batch.tokens), labels=batch.labels).loss
    theirs.backward()

    assert mine.item() == pytest.approx(theirs.item(), rel=1e-5)
    for got, p in zip(gradients, model.parameters(), strict=True):
        torch.testing.assert_close(got, p.grad, rtol=1e-3, atol=1e-6)


def test_an_early_loss_is_that_of_the_model_cut_there(model, batch):
    whole, early = losses(model, batch, 2)
    model.model.layers = model.model.layers[:2]
    cut, _ = losses(model, batch)

    assert early.item() == pytest.approx(cut.item(), rel=1e-6)
    assert whole.item() != pytest.approx(cut.item(), rel=1e-6)


def test_the_last_layer_and_no_layer_are_no_early_exit(model, batch):
    whole, none = losses(model, batch)
    also, last = losses(model, batch, 3)

    assert none is None
    assert whole.item() == also.item() == last.item()


def test_only_learned_tokens_count(model, batch):
    before = losses(model, batch)[0].item()
    batch.labels[0][batch.labels[0] != IGNORED] = 7

    assert before != losses(model, batch)[0].item()


def test_rotations_are_the_models_own(model):
    cosines, sines = rotations(model, 9)
    theirs = model.model.rotary_emb(torch.zeros(1, 9, 32), torch.arange(9)[None])

    torch.testing.assert_close(cosines, theirs[0][0])
    torch.testing.assert_close(sines, theirs[1][0])


def test_embeddings_are_tied_and_deep_layers_start_small(model, tokenizer):
    deep = build(SHAPE | {"layers": 27}, 256, tokenizer)

    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert deep.model.layers[0].mlp.down_proj.weight.std() < 0.5 * model.model.layers[0].mlp.down_proj.weight.std()
    assert 256 == model.config.max_position_embeddings
