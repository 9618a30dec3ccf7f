import re
from random import Random

import pytest

from draftgate.engine.training.corpus.words import NAMES_HELD, NOUNS, QUALITIES, VERBS, Draw, expand, held_out, side

ORDERS = expand("(a|b|c|d|e) (f|g|) {}.")
NAMES = ("word", "person", "identifier", "key", "verb_noun", "thing")


@pytest.mark.parametrize("name", NAMES)
def test_names_come_from_the_side_asked_for(name):
    for held in (False, True):
        draw = Draw(Random(1), held)
        names = [getattr(draw, name)() for _ in range(100)]

        assert names == draw.names
        assert all(held_out(n.lower()) is held for n in names)


def test_the_split_never_changes_and_takes_the_share_it_names():
    names = [f"name{n}" for n in range(4000)]

    assert NAMES_HELD == pytest.approx(sum(map(held_out, names)) / 4000, abs=0.03)
    assert [False, False, True, True] == [held_out(name) for name in ("old_river", "tobak", "open_gate", "ship_wheel")]
    assert not held_out("anything", 0.0)
    assert held_out("anything", 1.0)


def test_patterns_stand_for_every_choice():
    assert ("a x", "b x") == expand("(a|b) x")
    assert {"a", "a b", "c", "c b"} == set(expand("(a|c)(| b)"))
    assert ("no choice", "{}") == expand("no choice", "{}")


def test_orders_are_split_without_loss_and_no_side_is_empty():
    held, trained = side(ORDERS, held=True), side(ORDERS, held=False)

    assert sorted(ORDERS) == sorted([*held, *trained])
    assert len(held) == 3
    assert len(side(("a", "b"), held=True)) == len(side(("a", "b"), held=False)) == 1


def test_an_order_comes_from_its_side():
    for held in (False, True):
        draw = Draw(Random(1), held)

        assert {draw.order(ORDERS) for _ in range(300)} == set(side(ORDERS, held=held))


def test_what_is_composed_lies_on_its_side():
    for held in (False, True):
        draw = Draw(Random(1), held)
        made = [draw.composed(lambda draw=draw: draw.number(0, 99), str, lambda key: key == "7") for _ in range(400)]

        assert all(held_out(str(n), 0.2) is held for n in made if n != 7)
        assert 7 in made


def test_names_asked_to_be_distinct_are():
    draw = Draw(Random(1))

    assert 60 == len(set(draw.distinct(draw.word, 60)))


def test_names_have_their_forms():
    draw = Draw(Random(2))
    forms = {
        "word": r"[a-z]{4,12}",
        "person": r"[A-Z][a-z]{3,11}",
        "identifier": r"[a-z0-9]{6}|[a-z0-9]{2}-[a-z0-9]{4}",
        "key": r"[a-z]+(_[a-z]+)?",
        "verb_noun": r"[a-z]+_([a-z]+_)?[a-z]+",
        "thing": r"[a-z]+ [a-z]+",
    }
    for name, form in forms.items():
        assert all(re.fullmatch(form, getattr(draw, name)()) for _ in range(60)), name


def test_common_words_are_plain_and_listed_once():
    for words in (NOUNS, QUALITIES, VERBS):
        assert len(set(words)) == len(words)
        assert all(word.isalpha() and word.islower() for word in words)


def test_the_same_chance_draws_the_same():
    first, again, other = (Draw(Random(seed)).distinct(Draw(Random(seed)).key, 1) for seed in (1, 1, 2))

    assert first == again != other
