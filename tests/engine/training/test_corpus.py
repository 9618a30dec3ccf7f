import json
from itertools import islice
from random import Random

import pytest

from draftgate.engine.training.corpus import KINDS, WEIGHTS, conversations, identifier

TALKS = 200


def talks(kind):
    rng = Random(1)
    return [KINDS[kind](rng) for _ in range(TALKS)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_conversation_is_a_question_and_an_answer(kind):
    for talk in talks(kind):
        assert ["user", "assistant"] == [turn["role"] for turn in talk]
        assert all(turn["content"].strip() == turn["content"] != "" for turn in talk)


def test_a_copy_is_what_was_asked_for():
    for question, answer in talks("copying"):
        assert question["content"].endswith(answer["content"])


def test_json_parses_and_holds_the_given_fields():
    for question, answer in talks("json"):
        fields = json.loads(answer["content"])

        assert all(f"{key}={value}" in question["content"] for key, value in fields.items())
        assert len(fields) == question["content"].count("=")


def test_counting_names_every_number_of_the_range():
    for question, answer in talks("counting"):
        first, last = (int(word) for word in question["content"].rstrip(".").split() if word.isdigit())

        assert list(range(first, last + 1)) == [int(number) for number in answer["content"].split(", ")]


def test_prose_is_made_of_sentences_that_begin_with_a_capital():
    for _, answer in talks("prose"):
        sentences = answer["content"].split(". ")

        assert 3 <= len(sentences) <= 8
        assert all(sentence[0].isupper() for sentence in sentences)
        assert answer["content"].endswith(".")


def test_the_stream_is_the_same_for_the_same_seed_and_holds_every_kind():
    first, again, other = (list(islice(conversations(Random(seed)), TALKS)) for seed in (1, 1, 2))
    openings = {talk[0]["content"].split()[0] for talk in first}

    assert first == again != other
    assert WEIGHTS.keys() == KINDS.keys()
    assert {"Copy", "As", "Count", "Tell"} <= openings


def test_identifiers_have_six_letters_or_digits():
    rng = Random(0)

    assert all(len(i) == 6 and i.isalnum() and i.islower() | i.isdigit() for i in (identifier(rng) for _ in range(50)))
