"""Trains the family's byte-level BPE tokenizer and gives it a chat template.

Runs of letters, single digits and runs of anything else are never merged with each other, so that a name has the same
tokens after a space, a quote and an underscore: copying it is then copying tokens. The special tokens open a turn or
end it; the last of a turn is the end of sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from .corpus import Message

END, SYSTEM, USER, ASSISTANT, TOOL = "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"
SPECIAL = (END, SYSTEM, USER, ASSISTANT, TOOL)
PIECES = r"\p{L}+|\p{N}|[^\p{L}\p{N}]+"
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def train_tokenizer(vocabulary: int, talks: Iterable[list[Message]]) -> PreTrainedTokenizerFast:
    """A fast tokenizer of `vocabulary` tokens, learned from the words of some conversations."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator((turn["content"] for talk in talks for turn in talk), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token=END, pad_token=END, clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer
