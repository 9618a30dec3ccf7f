"""Turns conversations into batches of token ids and labels. Only what the assistant says is learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .tokenizer import ASSISTANT, END

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from .corpus import Message

IGNORED = -100  # label of a token that takes no part in the loss
POOL = 1024  # conversations among which those of like length are put together

Encoded = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Token ids and labels, each (rows, tokens), padded on the right. A causal model never sees the padding."""

    tokens: Tensor
    labels: Tensor


def batches(
    tokenizer: PreTrainedTokenizerFast, talks: Iterator[list[Message]], batch_tokens: int, rng: Random
) -> Iterator[Batch]:
    """Endless batches of at most `batch_tokens` padded tokens; conversations of like length share one."""
    while True:
        pool = sorted((encode(tokenizer, next(talks)) for _ in range(POOL)), key=lambda pair: len(pair[0]))
        groups: list[list[Encoded]] = [[]]
        for pair in pool:
            if len(pair[0]) * (len(groups[-1]) + 1) > batch_tokens and groups[-1]:
                groups.append([])
            groups[-1].append(pair)
        rng.shuffle(groups)
        yield from (collate(group) for group in groups)


def encode(tokenizer: PreTrainedTokenizerFast, talk: list[Message]) -> Encoded:
    """Token ids of a conversation, and labels that leave out everything but the assistant's words."""
    text = tokenizer.apply_chat_template(talk, tokenize=False)
    ids: list[int] = tokenizer(text)["input_ids"]
    opening, closing = tokenizer.convert_tokens_to_ids([ASSISTANT, END])
    labels, speaking = [], False
    for token in ids:
        labels.append(token if speaking else IGNORED)
        speaking = token == opening or (speaking and token != closing)
    return ids, labels


def collate(group: list[Encoded]) -> Batch:
    """Pads on the right."""
    length = max(len(ids) for ids, _ in group)
    tokens = torch.zeros(len(group), length, dtype=torch.long)
    labels = torch.full_like(tokens, IGNORED)
    for row, (ids, wanted) in enumerate(group):
        tokens[row, : len(ids)] = torch.tensor(ids)
        labels[row, : len(ids)] = torch.tensor(wanted)
    return Batch(tokens=tokens, labels=labels)
