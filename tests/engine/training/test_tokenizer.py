from itertools import islice
from random import Random

import pytest

from draftgate.engine.training.corpus import Draw
from draftgate.engine.training.tokenizer import ASSISTANT, END, SPECIAL, USER, train_tokenizer


def test_it_has_as_many_tokens_as_asked_for_and_the_special_ones_first(tokenizer):
    assert 330 == len(tokenizer)
    assert [0, 1, 2, 3, 4] == tokenizer.convert_tokens_to_ids(list(SPECIAL))
    assert END == tokenizer.eos_token == tokenizer.pad_token


def test_texts_of_the_corpus_survive_the_round_trip(tokenizer, talks):
    for talk in islice(talks(9), 100):
        for turn in talk:
            assert turn["content"] == tokenizer.decode(tokenizer(turn["content"])["input_ids"])


@pytest.mark.parametrize("text", ["Größe: 5 µm", "日本語", "\n\t  x", "🙂", ' {"a": 1} ', ""])
def test_any_text_survives_the_round_trip(text, tokenizer):
    assert text == tokenizer.decode(tokenizer(text)["input_ids"])


def test_the_template_closes_every_turn_and_opens_the_assistants_on_request(tokenizer):
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    whole = tokenizer.apply_chat_template(talk, tokenize=False)
    opened = tokenizer.apply_chat_template(talk[:1], tokenize=False, add_generation_prompt=True)

    assert f"{USER}hi{END}{ASSISTANT}ho{END}" == whole
    assert whole.startswith(opened)
    assert opened.endswith(ASSISTANT)


@pytest.mark.parametrize("name", ["tobak", "old_river", "k7-4f20", "Tolan", "615"])
def test_a_name_has_the_same_tokens_wherever_it_stands(name, tokenizer):
    """What a model copies from a sentence into quotes is then the same tokens."""
    alone = tokenizer(name)["input_ids"]

    for before, after in [(" ", "."), ('"', '"'), ("(", ","), ("is ", " and"), ("\n", ":")]:
        whole = tokenizer(before + name + after)["input_ids"]
        assert any(whole[at : at + len(alone)] == alone for at in range(len(whole))), before


def test_names_are_split_into_several_tokens(tokenizer):
    draw = Draw(Random(1))

    for make in (draw.word, draw.person, draw.identifier, draw.verb_noun):
        assert all(len(tokenizer(make())["input_ids"]) > 1 for _ in range(50))


def test_a_tool_speaks_in_a_turn_of_its_own(tokenizer):
    text = tokenizer.apply_chat_template([{"role": "tool", "content": "x"}], tokenize=False)

    assert "<|tool|>x<|end|>" == text
    assert 3 == len(tokenizer(text)["input_ids"])


def test_the_same_talks_teach_the_same_tokens(talks):
    first, again, other = (train_tokenizer(320, islice(talks(seed), 40)).get_vocab() for seed in (1, 1, 2))

    assert first == again != other
