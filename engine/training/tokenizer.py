"""Trains the family's byte-level BPE tokenizer and gives it a chat template.

The three special tokens open a user turn, open an assistant turn and end any turn; the last is the end of sequence.
"""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from .corpus import conversations

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

USER, ASSISTANT, END = "<|user|>", "<|assistant|>", "<|end|>"
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def train_tokenizer(vocabulary: int, samples: int, seed: int) -> PreTrainedTokenizerFast:
    """A fast tokenizer of `vocabulary` tokens, learned from `samples` conversations of the corpus."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = (turn["content"] for talk in islice(conversations(Random(seed)), samples) for turn in talk)
    raw.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token=END, pad_token=END, clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer
