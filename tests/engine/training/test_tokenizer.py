from itertools import islice
from random import Random

import pytest

from draftgate.engine.training.corpus import conversations
from draftgate.engine.training.tokenizer import ASSISTANT, END, USER, train_tokenizer


def test_it_has_as_many_tokens_as_asked_for_and_the_special_ones_first(tokenizer):
    assert 320 == len(tokenizer)
    assert [0, 1, 2] == tokenizer.convert_tokens_to_ids([END, USER, ASSISTANT])
    assert END == tokenizer.eos_token == tokenizer.pad_token


def test_texts_of_the_corpus_survive_the_round_trip(tokenizer):
    for talk in islice(conversations(Random(9)), 100):
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


def test_the_same_seed_learns_the_same_tokens():
    first, again, other = (train_tokenizer(300, 40, seed).get_vocab() for seed in (1, 1, 2))

    assert first == again != other
