"""What a step of plain decoding costs in steps of a draft: `python -m draftgate.engine.training.costs TARGET DRAFT...`.

All models answer the same prompt with the same number of tokens, in turn, so that a clock that slows down falls on all
alike. A ratio is that of two answers made one after the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import torch

from ..decoding.plain import PlainDecoder
from ..models.huggingface import HuggingFaceModel, load
from ..request import Request
from .corpus import sample

TOKENS = 48  # an answer, and then no less: none of them ends a turn
TURNS = 15  # answers of each model, the first left out
SEED = 7  # of the prompt


class Cost(NamedTuple):
    """A step of one model in milliseconds, and how many of these a step of the first model takes: three quartiles."""

    name: str
    milliseconds: float
    ratio: tuple[float, float, float]


def costs(models: Sequence[tuple[str, HuggingFaceModel]], *, turns: int, tokens: int) -> list[Cost]:
    """The models' costs in time on one core, after a first turn that is not counted."""
    messages = sample("json", Random(SEED), held=True).messages[:-1]
    seconds = np.array([[_timed(model, messages, tokens) for _, model in models] for _ in range(turns + 1)])[1:]
    ratios = np.quantile(seconds[:, :1] / seconds, (0.25, 0.5, 0.75), axis=0).T
    medians = 1e3 * np.median(seconds, axis=0)
    return [
        Cost(name, float(step), (float(low), float(middle), float(high)))
        for (name, _), step, (low, middle, high) in zip(models, medians, ratios, strict=True)
    ]


def _timed(model: HuggingFaceModel, messages: Sequence[dict[str, str]], tokens: int) -> float:
    """Processor seconds a token, prefill included: what else runs on the machine takes no part in them."""
    request = Request(name="cost", prompt=model.encode(messages), max_tokens=tokens)
    started = time.process_time()
    PlainDecoder(model=model).generate([request])
    return (time.process_time() - started) / tokens


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the command line and prints a line a model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", type=Path)
    parser.add_argument("drafts", type=Path, nargs="+", metavar="draft")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    models = [(folder.name, load(folder)) for folder in (options.target, *options.drafts)]
    for cost in costs(models, turns=TURNS, tokens=TOKENS):
        low, middle, high = cost.ratio
        print(
            f"{cost.name:<8}{cost.milliseconds:>7.2f} ms a step   {middle:>5.2f} [{low:.2f}, {high:.2f}] to a target's"
        )


if __name__ == "__main__":
    main()
