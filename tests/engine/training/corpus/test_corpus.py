"""What holds for every kind."""

import re
from collections import Counter
from itertools import islice, pairwise
from random import Random

import pytest

from draftgate.engine.training.corpus import KINDS, Draw, conversations, sample
from draftgate.engine.training.judging import right


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_answer_is_judged_right(kind, drawn):
    for made in drawn(kind, 12 if kind == "code" else 150):
        assert right(made, made.answer), made


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("code", "prose")])
def test_a_cut_answer_is_judged_wrong(kind, drawn):
    for made in drawn(kind, 50):
        assert not right(made, made.answer[:-1])


@pytest.mark.parametrize("kind", KINDS)
def test_turns_are_whole_and_end_with_the_assistant(kind, drawn):
    for made in drawn(kind):
        roles = [turn["role"] for turn in made.messages]
        spoken = [role for role in roles if role != "system"]

        assert "assistant" == roles[-1]
        assert "user" == spoken[0]
        assert "system" not in roles[1:]
        assert all(a != b for a, b in pairwise(spoken))
        assert all(turn["content"].strip() == turn["content"] != "" for turn in made.messages)


@pytest.mark.parametrize("kind", KINDS)
def test_conversations_are_short(kind, drawn):
    words = [sum(len(re.findall(r"[a-zA-Z]+|\d|[^a-zA-Z\d]+", t["content"])) for t in s.messages) for s in drawn(kind)]

    assert max(words) < 250


@pytest.mark.parametrize("kind", KINDS)
def test_no_held_out_name_occurs_in_training(kind):
    held = Draw(Random(3), held=True)
    for _ in range(300):
        KINDS[kind](held)
    names = {name for name in held.names if len(name) > 6 and ("_" in name or any(c.isdigit() for c in name))}
    rng = Random(4)
    trained = {word for k in KINDS for _ in range(300) for turn in sample(k, rng).messages for word in words(turn)}

    assert not names & trained


def words(turn):
    return re.findall(r"[\w-]+", turn["content"])


@pytest.mark.parametrize("kind", KINDS)
def test_no_held_out_order_occurs_in_training(kind, monkeypatch):
    """What both sides can say is nothing."""
    asked = {False: set(), True: set()}
    choose = Draw.order

    def order(self, orders):
        text = choose(self, orders)
        asked[self.held].add((orders, text))
        return text

    monkeypatch.setattr(Draw, "order", order)
    rng = Random(5)
    for _ in range(300):
        sample(kind, rng)
        sample(kind, rng, held=True)

    assert asked[True]
    assert not asked[True] & asked[False]


def test_the_stream_is_the_same_for_the_same_seed_and_follows_the_shares():
    def stream(seed, shares):
        return [str(talk) for talk in islice(conversations(Random(seed), lambda: shares), 200)]

    shares = {"counting": 3.0, "prose": 1.0}
    first, again, other = (stream(seed, shares) for seed in (1, 1, 2))
    prose = Counter("there was" in talk or len(talk) > 200 for talk in first)[True]

    assert first == again != other
    assert 25 < prose < 75
    assert not any("<tool_call>" in talk for talk in first)


def test_the_shares_are_asked_before_every_conversation():
    turn = iter(["copying", "code"] * 5)
    talks = islice(conversations(Random(1), lambda: {next(turn): 1.0}), 10)

    assert [False, True] * 5 == [talk[-1]["content"].startswith("def ") for talk in talks]
