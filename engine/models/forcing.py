"""Teacher forcing by a transformers model's own forward pass, mask and cache: nothing of this engine stands between.

Rows are padded as `generate` pads them, so that noise measured here is the noise of what it answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .base import Logits
from .pretrained import Pretrained, left_padded


def teacher_forced(
    model: Pretrained, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], width: int
) -> list[Logits]:
    """For each answer the logits (tokens, vocabulary) that precede each of its tokens.

    The prompts are one pass, the answers passes of `width` tokens, 0 for one. What is padded on the right of a shorter
    answer is seen by nothing before it.
    """
    tokens, mask = left_padded(prompts, 0)
    fed = max([len(answer) - 1 for answer in answers if answer], default=0)
    rest = torch.zeros((len(answers), fed), dtype=torch.long)
    for row, answer in enumerate(answers):
        rest[row, : len(answer[:-1])] = torch.tensor(list(answer[:-1]), dtype=torch.long)
    passes = [tokens, *(rest[:, at : at + (width or fed)] for at in range(0, fed, width or fed))] if fed else [tokens]
    mask = torch.cat([mask, torch.ones_like(rest)], dim=1)
    cache: dict[str, Any] = {}
    found, done = [], 0
    with torch.inference_mode():
        for step in passes:
            seen = mask[:, : done + step.shape[1]]
            logits, cache = _forward(model, step, seen, cache)
            found.append(logits if done else logits[:, -1:])
            done += step.shape[1]
    whole = np.concatenate(found, axis=1)
    return [row[: len(answer)] for row, answer in zip(whole, answers, strict=True)]


def _forward(model: Pretrained, step: Tensor, mask: Tensor, cache: dict[str, Any]) -> tuple[Logits, dict[str, Any]]:
    """Logits (rows, tokens, vocabulary) as `generate` reads them, and the cache by the name that the model gives it."""
    taken = inspect.signature(model.model.forward).parameters
    places = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -step.shape[1] :]
    given: dict[str, Any] = {"position_ids": places.to(model.device)} if "position_ids" in taken else {}
    if not cache and "logits_to_keep" in taken:
        given["logits_to_keep"] = 1
    out = model.model(
        input_ids=step.to(model.device), attention_mask=mask.to(model.device), use_cache=True, **given, **cache
    )
    name = "cache" if "cache" in taken else "past_key_values"
    return out.logits.to(torch.float32).cpu().numpy(), {name: getattr(out, name)}
