"""The library's own `generate`, asked for one thing at a time, and what is told of how the answers came about."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from draftgate.engine.models import generate as module
from draftgate.engine.models.generate import Assistance, generate
from draftgate.engine.request import Request, Sampling

GREEDY = Sampling()
TOPK, TOPP = Sampling(temperature=0.7, top_k=20), Sampling(temperature=1.3, top_p=0.9)
TEXTS = ("Count from 4 to 11.", "Say again, word for word: raku leme", "Tell a story about a ship and a storm.")


def asked(model, sampling=GREEDY, tokens=20, count=3):
    return [
        Request(
            name=f"r{number}",
            prompt=model.encode([{"role": "user", "content": text}]),
            max_tokens=tokens,
            sampling=sampling,
            eos=model.eos,
            seed=number,
        )
        for number, text in enumerate(TEXTS[:count])
    ]


@pytest.fixture(scope="module")
def methods(draft):
    return {
        "draft": Assistance(method="draft", k=3, draft=draft),
        "lookup": Assistance(method="lookup", k=3),
        "early_exit": Assistance(method="early_exit", k=3, exit=10),
    }


@pytest.fixture(params=["draft", "lookup", "early_exit"])
def assisted(request, methods):
    return methods[request.param]


def test_greedy_answers_are_those_of_plain_decoding(target, assisted):
    plain = [g.tokens for g in generate(target, Assistance(), asked(target))]

    assert plain == [g.tokens for g in generate(target, assisted, asked(target))]


@pytest.mark.parametrize("sampling", [GREEDY, TOPK, TOPP], ids=str)
def test_every_token_is_told_once_by_stream_rounds_and_answer(target, assisted, sampling):
    for answer in generate(target, assisted, asked(target, sampling)):
        assert len(answer.tokens) == sum(a.tokens for a in answer.arrivals) == sum(r.emitted for r in answer.rounds)
        assert all(r.emitted == r.accepted + 1 - r.cut and r.accepted <= r.drafted <= 3 for r in answer.rounds)
        assert all(r.cut == 0 for r in answer.rounds[:-1])
        assert sorted(a.seconds for a in answer.arrivals) == [a.seconds for a in answer.arrivals]
        assert answer.prefill == 0
    assert any(r.accepted for answer in generate(target, assisted, asked(target)) for r in answer.rounds)


@pytest.mark.parametrize(
    ("drafts", "came", "told"),
    [
        ([5, 6, 7], [5, 6, 7, 8], (3, 3, 4, 0)),
        ([5, 6, 7], [5, 9], (3, 1, 2, 0)),
        ([5, 6, 7], [5, 6], (3, 2, 2, 1)),  # the answer ended with the second draft
        ([], [9], (0, 0, 1, 0)),
    ],
)
def test_a_round_is_told_by_what_was_shown_and_what_came(target, drafts, came, told):
    watch = module._Watch(target.model, prompt=2, started=0.0)
    watch.put(torch.tensor([[1, 2]]))
    watch._saw(None, (), {"input_ids": torch.tensor([[1, 2, *drafts]])})
    watch.put(torch.tensor([came]))

    assert [told] == watch.rounds
    assert [len(came)] == [arrival.tokens for arrival in watch.arrivals]


def test_a_plain_batch_answers_each_row_as_alone_and_ends_it_where_it_ends(target):
    rows = asked(target)
    together = generate(target, Assistance(), rows)

    assert [g.tokens for g in together] == [generate(target, Assistance(), [row])[0].tokens for row in rows]
    assert {"eos"} == {g.finish for g in together if len(g.tokens) < 20}
    assert all(len(g.arrivals) == len(g.tokens) and g.prefill == 1 and g.rounds == () for g in together)


def test_requests_of_different_settings_are_each_answered_by_their_own(target):
    short, long, warm = asked(target, tokens=3)[0], asked(target)[2], asked(target, TOPK)[1]
    found = generate(target, Assistance(), [short, long, warm])

    assert ["r0", "r2", "r1"] == [g.name for g in found]
    assert (3, "length") == (len(found[0].tokens), found[0].finish)
    assert len(found[1].tokens) > 3


def test_chance_follows_from_the_seeds_and_leaves_that_of_others_alone(target, assisted):
    rows = asked(target, TOPP)
    state = torch.random.get_rng_state()
    first, again = generate(target, assisted, rows), generate(target, assisted, rows)
    others = generate(target, assisted, [replace(row, seed=row.seed + 100) for row in rows])

    assert [g.tokens for g in first] == [g.tokens for g in again]
    assert [g.tokens for g in first] != [g.tokens for g in others]
    assert torch.equal(state, torch.random.get_rng_state())


def test_settings_of_the_checkpoint_take_no_part_and_are_there_afterwards(target, methods):
    from transformers import GenerationConfig

    rows = asked(target)
    wanted = [g.tokens for g in generate(target, Assistance(), rows)]
    own = target.model.generation_config
    leaking = GenerationConfig(suppress_tokens=list(wanted[0]), repetition_penalty=1.9, do_sample=True, top_k=2)
    target.model.generation_config = leaking
    try:
        found = [g.tokens for g in generate(target, Assistance(), rows)]
        drafted = [g.tokens for g in generate(target, methods["early_exit"], rows)]
        assert target.model.generation_config is leaking
    finally:
        target.model.generation_config = own

    assert wanted == found == drafted


def test_what_is_left_out_is_not_filled_in_by_the_library(target):
    """Its own default keeps fifty tokens; a temperature at which nothing is likelier shows more."""
    flat = Sampling(temperature=1000.0)
    rows = [replace(asked(target, flat, tokens=1, count=1)[0], seed=seed) for seed in range(150)]

    assert len({generate(target, Assistance(), [row])[0].tokens for row in rows}) > 75


@pytest.mark.parametrize(
    "sampling", [Sampling(temperature=2.0, top_k=3), Sampling(temperature=2.0, min_p=0.5)], ids=str
)
def test_filters_are_kept(target, sampling):
    (request,) = asked(target, sampling, tokens=1, count=1)
    seen = {generate(target, Assistance(), [replace(request, seed=seed)])[0].tokens[0] for seed in range(60)}

    assert 1 <= len(seen) <= 3


def test_a_hook_is_gone_when_the_library_raises(target, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no")

    monkeypatch.setattr(target.model, "generate", broken)
    with pytest.raises(RuntimeError, match="no"):
        generate(target, Assistance(), asked(target))

    assert len(target.model._forward_pre_hooks) == 0


def test_a_decoder_that_emits_more_than_it_was_told_to_is_not_put_right(target, methods, monkeypatch):
    """What follows the end of an answer alone stays in it: the gate is to see that."""
    real = target.model.generate

    def longer(**given):
        given["generation_config"].eos_token_id = None
        return real(**given)

    monkeypatch.setattr(target.model, "generate", longer)
    (answer,) = generate(target, methods["draft"], asked(target)[1:2])

    assert set(answer.tokens[:-1]) & set(target.eos)


def test_padding_is_a_token_that_the_model_has(target):
    assert 0 <= module._pad(target, asked(target)[0]) < target.vocabulary
