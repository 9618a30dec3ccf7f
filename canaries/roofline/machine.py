"""This machine, measured: what its passes cost and what it reads and computes meanwhile, kept only where asked.

Times are raw in the document; intervals and predictions are worked out from it, so that a kept one tells the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from ... import __version__
from ...engine.costs import measuring
from ...engine.costs.measuring import Pass
from ...engine.costs.speedup import break_even
from ...engine.costs.table import MeasuredCosts
from ...engine.models.base import LanguageModel
from ...stats.speed import paired_ratio
from .. import documents
from ..errors import OutputUnwritable, UsageError
from ..machine import described
from .device import Drafting

CONFIDENCE, RESAMPLES = 0.95, 400  # of the intervals that are shown
SEED = 7  # of tokens and orders, and of the resampling
TARGET, DRAFT = "target", "draft"
SCHEMA = 1


class Asked(NamedTuple):
    """Which passes: every width at every batch for the target, one token a row for the draft."""

    rows: Sequence[int]
    widths: Sequence[int]
    turns: int
    context: int


def measure(models: Mapping[str, LanguageModel], asked: Asked) -> dict[str, Any]:
    """The document: all times, and what they were taken on. `models` are the target and, if any, the draft."""
    rng = np.random.default_rng(SEED)
    wanted = [Pass(TARGET, rows, width) for rows in asked.rows for width in sorted({1, *asked.widths})]
    wanted += [Pass(name, rows, 1) for name in models if name != TARGET for rows in asked.rows]
    machine = measuring.machine(turns=asked.turns, rng=rng)
    found = measuring.passes(models, wanted, context=asked.context, turns=asked.turns, rng=rng)
    return {
        "schema": SCHEMA,
        "draftgate": __version__,
        "machine": described(),
        "clock": "processor" if torch.get_num_threads() == 1 else "wall",
        "models": {name: model.identity() for name, model in models.items()},
        "context": asked.context,
        "bandwidth": machine.bandwidth.tolist(),
        "flops": machine.flops.tolist(),
        "passes": [{**one._asdict(), "seconds": seconds.tolist()} for one, seconds in found.items()],
    }


def save(document: Mapping[str, Any], file: Path) -> None:
    """The document stands in the file, whole."""
    documents.write(file, documents.encode(document, indent=1))


def refuse_file(file: Path) -> None:
    """Raises OutputUnwritable where nothing can be kept there: before anything is measured."""
    if file.is_dir() or not os.access(file.parent, os.W_OK):
        raise OutputUnwritable(f"{file} cannot be written; choose another --save")


def read(file: Path) -> dict[str, Any]:
    """What `save` kept. Raises UsageError with one line where it is not that."""
    try:
        document = documents.decode(file.read_bytes())
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{file} cannot be read ({told}); name a file that roofline --save kept") from error
    if not _fits(document):
        raise UsageError(f"{file} holds no times of passes; name a file that roofline --save kept")
    return dict(document)


def _fits(document: Any) -> bool:
    try:
        passes = document["passes"]
        turns = {len(one["seconds"]) for one in passes}
        numbers = [n for one in passes for n in one["seconds"]] + document["bandwidth"] + document["flops"]
        named = {one["model"] for one in passes} <= document["models"].keys() and TARGET in document["models"]
        whole = all(isinstance(one[key], int) and one[key] > 0 for one in passes for key in ("rows", "width"))
        alike = document["schema"] == SCHEMA and len(turns) == 1 and turns != {0}
        known = document["machine"].keys() >= {"processor", "threads"} and {"clock", "context"} <= document.keys()
        sized = all(isinstance(model["parameters"], int) and model["dtype"] for model in document["models"].values())
        rates = bool(document["bandwidth"] and document["flops"])
        return alike and named and whole and known and sized and rates and min(numbers) > 0
    except (LookupError, TypeError, ValueError, AttributeError):
        return False


def times(document: Mapping[str, Any]) -> dict[Pass, np.ndarray]:
    """Seconds (turns,) of each pass."""
    return {Pass(one["model"], one["rows"], one["width"]): np.array(one["seconds"]) for one in document["passes"]}


def costs(found: Mapping[Pass, np.ndarray], turns: Sequence[int] | np.ndarray) -> MeasuredCosts:
    """The costs by the geometric mean of some turns."""
    means = {one: float(np.exp(np.log(seconds[turns]).mean())) for one, seconds in found.items()}
    parts: dict[str, dict[tuple[int, int], float]] = {TARGET: {}, DRAFT: {}}
    for one, mean in means.items():
        parts[one.model][one.rows, one.width] = mean
    return MeasuredCosts(parts[TARGET], parts[DRAFT])


def interval(over: np.ndarray, under: np.ndarray) -> tuple[float, float, float]:
    """The geometric mean of `over / under` turn by turn, and its interval."""
    rng = np.random.default_rng(SEED)
    ratio = paired_ratio(over, under, confidence=CONFIDENCE, resamples=RESAMPLES, rng=rng)
    return ratio.ratio, ratio.low, ratio.high


def table(found: Mapping[Pass, np.ndarray]) -> list[dict[str, Any]]:
    """A line a pass: milliseconds, and beside a pass of one token in as many rows, each with its interval."""
    return [
        {"model": one.model, "rows": one.rows, "width": one.width}
        | dict(zip(("ms", "ms_low", "ms_high"), interval(1e3 * seconds, np.ones(len(seconds))), strict=True))
        | dict(zip(("wider", "wider_low", "wider_high"), interval(seconds, found[one._replace(width=1)]), strict=True))
        for one, seconds in found.items()
    ]


def crossover(found: Mapping[Pass, np.ndarray], drafting: Drafting) -> dict[str, int]:
    """The break-even batch by all turns, and its interval by turns drawn again and again."""
    turns = len(next(iter(found.values())))
    rng = np.random.default_rng(SEED)
    drawn = [
        break_even(costs(found, rng.integers(turns, size=turns)), drafting.acceptance, drafting.longest, drafting.most)
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="closest_observation")
    batch = break_even(costs(found, np.arange(turns)), drafting.acceptance, drafting.longest, drafting.most)
    return {"batch": batch, "low": int(low), "high": int(high)}
