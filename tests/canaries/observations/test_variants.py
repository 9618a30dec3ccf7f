"""Knobs and synthetic drafters, as they are observed."""

from dataclasses import replace

import pytest
from arms import context, smoke
from plants import KeepsFirstUnseen, strategies

from draftgate.canaries.observations import variants
from draftgate.engine.request import Generation
from draftgate.suites import loader


def generations(observation, label):
    return [Generation.from_json(g) for g in observation["variants"][label]["generations"]]


def test_every_draft_length_drafts_as_far_as_it_says():
    observed = smoke().record.observations["knobs"]

    lengths = loader.load("smoke").knobs.draft_lengths
    assert [f"k={k}" for k in lengths] == list(observed["variants"])
    for k in lengths:
        assert k == max(r.drafted for g in generations(observed, f"k={k}") for r in g.rounds)


def test_the_oracles_drafts_are_all_kept_and_the_adversarys_none():
    observed = smoke().record.observations["synthetic"]

    oracle = [r for g in generations(observed, "oracle") for r in g.rounds]
    adversary = [r for g in generations(observed, "adversary") for r in g.rounds]
    assert all(r.accepted == r.drafted for r in oracle)
    assert sum(r.drafted for r in oracle) > 100
    assert all(r.accepted == 0 for r in adversary)
    assert sum(r.drafted for r in adversary) > 100


@pytest.mark.parametrize("name", ["knobs", "synthetic"])
def test_honest_variants_give_the_plain_answers_and_need_no_replay(name):
    observed = smoke().record.observations[name]

    plain = [g["tokens"] for g in observed["plain"]]
    for label, variant in observed["variants"].items():
        assert plain == [list(g.tokens) for g in generations(observed, label)]
        assert variant["replays"] == {}


def test_an_answer_that_differs_is_replayed_through_the_plain_arm():
    suite = loader.load("smoke")
    small = replace(suite, synthetic=replace(suite.synthetic, prompts=2, tokens=6, drafters=("adversary",)))
    from arms import draft

    made = context(draft(strategies(verifier=KeepsFirstUnseen())), small)

    observed = variants.observe_synthetic(made, 2)

    answers = {g.name: g.tokens for g in generations(observed, "adversary")}
    replays = observed["variants"]["adversary"]["replays"]
    assert set(answers) == set(replays)
    assert {name: len(tokens) for name, tokens in answers.items()} == {n: len(r["margin"]) for n, r in replays.items()}
    assert all(max(replay["margin"]) > 1 for replay in replays.values())
