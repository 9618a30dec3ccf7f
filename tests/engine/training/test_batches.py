from itertools import islice
from random import Random

from draftgate.engine.training.batches import IGNORED, batches, collate, encode
from draftgate.engine.training.tokenizer import ASSISTANT, END


def test_only_the_assistants_words_and_the_end_of_its_turn_are_learned(tokenizer, talks):
    for talk in islice(talks(2), 30):
        ids, labels = encode(tokenizer, talk)
        learned = [label for label in labels if label != IGNORED]
        spoken = [turn["content"] + END for turn in talk if turn["role"] == "assistant"]

        assert [token for text in spoken for token in tokenizer(text)["input_ids"]] == learned
        assert all(label in (IGNORED, token) for token, label in zip(ids, labels, strict=True))


def test_of_several_turns_each_answer_is_learned_and_no_question(tokenizer):
    talk = [{"role": role, "content": text} for role, text in [("user", "a"), ("assistant", "b")] * 2]
    ids, labels = encode(tokenizer, talk)
    opening = tokenizer.convert_tokens_to_ids(ASSISTANT)

    assert 4 == sum(label != IGNORED for label in labels)
    assert all(labels[place] == IGNORED for place, token in enumerate(ids) if token == opening)


def test_padding_takes_part_in_nothing():
    batch = collate([([5, 6, 7], [IGNORED, 6, 7]), ([8], [8])])

    assert [[5, 6, 7], [8, 0, 0]] == batch.tokens.tolist()
    assert [[IGNORED, 6, 7], [8, IGNORED, IGNORED]] == batch.labels.tolist()


def test_batches_keep_to_their_size_and_lose_no_conversation(tokenizer, talks):
    rows, stream = 0, batches(tokenizer, talks(4), 512, Random(4))
    while rows < 1024:
        batch = next(stream)
        rows += len(batch.tokens)

        assert batch.tokens.numel() <= 512 or len(batch.tokens) == 1
    assert 1024 == rows


def test_little_of_a_batch_is_padding(tokenizer, talks):
    stream = list(islice(batches(tokenizer, talks(4), 2048, Random(4)), 20))
    places = sum(batch.tokens.numel() for batch in stream)
    ends = tokenizer.eos_token_id
    used = sum(int((batch.tokens != ends).sum()) for batch in stream)

    assert used > 0.8 * places
