"""What passes cost on this machine: times of several things, in turn, so that a clock that slows falls on all alike.

Measures models and the machine itself; keeps every time, and draws no conclusion.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from ..cache.contiguous import ContiguousCache
from ..models.base import Block, LanguageModel

Floats = npt.NDArray[np.float64]
Work = Callable[[], object]
Key = TypeVar("Key")
BYTES = 1 << 28  # of the array that is read: more than the caches near a processor hold
SIDE = 768  # of the square matrices that are multiplied: enough for the most operations a second


class Pass(NamedTuple):
    """A pass of a model: `width` tokens in each of `rows` rows."""

    model: str
    rows: int
    width: int


def clock() -> Callable[[], float]:
    """Of one thread the processor's time, in which nothing else that runs here takes part; else that on the wall."""
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def in_turn(work: Mapping[Key, Work], turns: int, rng: np.random.Generator) -> dict[Key, Floats]:
    """Seconds (turns,) of each; all are done once in each turn, in an order drawn anew, and once before, uncounted."""
    for do in work.values():
        do()
    keys, now = list(work), clock()
    found = {key: np.zeros(turns) for key in keys}
    for turn in range(turns):
        for place in rng.permutation(len(keys)):
            started = now()
            work[keys[place]]()
            found[keys[place]][turn] = now() - started
    return found


def passes(
    models: Mapping[str, LanguageModel], wanted: Sequence[Pass], *, context: int, turns: int, rng: np.random.Generator
) -> dict[Pass, Floats]:
    """Seconds (turns,) of each pass, behind `context` committed tokens a row. What is written is forgotten again."""
    caches = {
        (name, rows): _filled(models[name], rows, context, rng)
        for name, rows in dict.fromkeys((one.model, one.rows) for one in wanted)
    }
    work = {
        one: partial(models[one.model].score, _tokens(models[one.model], one, rng), caches[one.model, one.rows])
        for one in wanted
    }
    return in_turn(work, turns, rng)


def _filled(model: LanguageModel, rows: int, context: int, rng: np.random.Generator) -> ContiguousCache:
    cache = ContiguousCache(rows)
    model.score_last(_tokens(model, Pass("", rows, context), rng), cache)
    cache.commit([list(range(1, context))] * rows)
    return cache


def _tokens(model: LanguageModel, one: Pass, rng: np.random.Generator) -> Block:
    return Block.chains(list(rng.integers(0, model.vocabulary, (one.rows, one.width))))


class Machine(NamedTuple):
    """What this machine reads and computes, each (turns,): bytes and floating-point operations a second."""

    bandwidth: Floats
    flops: Floats


def machine(*, turns: int, rng: np.random.Generator) -> Machine:
    """Reads an array that no cache holds, and multiplies float32 matrices, as torch does on its threads."""
    large = torch.ones(BYTES // 4)
    left, right = torch.ones(SIDE, SIDE), torch.ones(SIDE, SIDE)
    out = torch.empty(SIDE, SIDE)
    with torch.inference_mode():
        work: dict[str, Work] = {"read": large.sum, "multiply": partial(torch.mm, left, right, out=out)}
        found = in_turn(work, turns, rng)
    return Machine(BYTES / found["read"], 2.0 * SIDE**3 / found["multiply"])
