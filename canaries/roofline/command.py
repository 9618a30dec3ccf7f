"""`draftgate roofline`: what a device allows, or what this machine was measured to, as a document and on a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ...engine.costs.devices import find
from ...engine.costs.roofline import Weights
from ..errors import UsageError
from ..report import tables
from ..report.text import clean, number
from . import device
from .device import Drafting, batches, of_a_round

if TYPE_CHECKING:
    from ...engine.models.huggingface import HuggingFaceModel

MACHINE_ONLY = ("model", "draft_model", "save")


def run(options: argparse.Namespace) -> dict[str, Any]:
    """The document that was asked for. Raises UsageError or EngineError with one line."""
    drafting = Drafting(acceptance=options.acceptance, k=options.k, longest=options.longest, most=options.most)
    if options.measured:
        from . import machine

        return _of_machine(machine.read(options.measured), drafting)
    if options.measure:
        return _of_machine(_measured(options), drafting)
    for name in MACHINE_ONLY:
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} is about this machine; add --measure")
    target = Weights(parameters=options.parameters, bytes_each=options.bytes, cached=options.cached)
    draft = Weights(parameters=options.draft, bytes_each=options.bytes, cached=0.0) if options.draft else None
    return device.document(find(options.device), target, draft, drafting)


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    from . import machine

    if options.save:
        machine.refuse_file(options.save)
    asked = machine.Asked(options.rows, options.widths, options.turns, options.context)
    document = machine.measure(_models(options), asked)
    if options.save:
        machine.save(document, options.save)
    return document


def _models(options: argparse.Namespace) -> dict[str, HuggingFaceModel]:
    """The target and, where one is named or both ship, the draft."""
    from ...engine.models import huggingface
    from ..targets.reference import EMBEDDED

    widest = options.context + max(options.widths)
    folders: dict[str, Path] = {"target": options.model or EMBEDDED / "target"}
    if options.draft_model or not options.model:
        folders["draft"] = options.draft_model or EMBEDDED / "draft"
    models = {name: huggingface.load(folder) for name, folder in folders.items()}
    if short := [name for name, model in models.items() if model.positions < widest]:
        most = models[short[0]].positions
        raise UsageError(f"--context and --widths reach {widest} tokens, the {short[0]} takes {most}; ask for fewer")
    return models


def _of_machine(measured: Mapping[str, Any], drafting: Drafting) -> dict[str, Any]:
    """What was measured, with intervals, and what follows for rounds."""
    import numpy as np

    from . import machine

    found = machine.times(measured)
    most = min(drafting.most, max(one.rows for one in found))  # no further than was measured
    drafting = replace(drafting, most=most)
    turns = len(next(iter(found.values())))
    costs = machine.costs(found, np.arange(turns))
    ones = np.ones(len(measured["bandwidth"]))
    rates = {name: machine.interval(np.array(measured[name]), ones) for name in ("bandwidth", "flops")}
    return {
        **{key: measured[key] for key in ("machine", "clock", "models", "context")},
        "turns": turns,
        "confidence": machine.CONFIDENCE,
        **{name: dict(zip(("value", "low", "high"), rate, strict=True)) for name, rate in rates.items()},
        "achieved": _achieved(measured, found),
        "passes": machine.table(found),
        "figures": list(of_a_round(costs, drafting)),
        "batches": batches(costs, drafting),
        "break_even": machine.crossover(found, drafting),
    }


def _achieved(measured: Mapping[str, Any], found: Mapping[Any, Any]) -> dict[str, float]:
    """Operations a second of the target's widest pass, and bytes of weights a second of its smallest."""
    import numpy as np

    parameters = measured["models"]["target"]["parameters"]
    target = {one: float(np.median(seconds)) for one, seconds in found.items() if one.model == "target"}
    most = max(target, key=lambda one: one.rows * one.width)
    least = min(target, key=lambda one: one.rows * one.width)
    size = {"float32": 4, "bfloat16": 2, "float16": 2}.get(measured["models"]["target"]["dtype"], 4)
    return {
        "flops": 2 * parameters * most.rows * most.width / target[most],
        "bandwidth": parameters * size / target[least],
    }


def show(document: Mapping[str, Any], console: Console | None = None) -> None:
    """The document stands on the console."""
    to = console or Console(highlight=False)
    for line in _head(document):
        to.print(Text(line))
    for rows in (document.get("passes", ()), document["figures"], document["batches"]):
        if rows:
            to.print(tables.choices([_rounded(row) for row in rows]))
            to.print()
    to.print(Text(_last(document)))


def _head(document: Mapping[str, Any]) -> list[str]:
    if "device" in document:
        found = document["device"]
        return [f"{clean(found['title'])}: {found['flops'] / 1e12:g} TFLOP/s, {found['bandwidth'] / 1e12:g} TB/s", ""]
    on, did = document["machine"], document["achieved"]
    reads, computes = (_span(document[rate]) for rate in ("bandwidth", "flops"))
    turns = f"{document['turns']} turns, {document['confidence']:.0%} intervals, {document['clock']} time"
    weights, most = (did[rate] / 1e9 for rate in ("bandwidth", "flops"))
    return [
        f"{clean(on['processor'])}, {on['threads']} threads",
        f"It reads {reads} GB/s and computes {computes} GFLOP/s in float32.",
        f"The target's smallest pass reads weights at {weights:.3g} GB/s, its largest computes {most:.3g} GFLOP/s.",
        turns,
        "",
    ]


def _span(rate: Mapping[str, float]) -> str:
    return f"{rate['value'] / 1e9:.3g} [{rate['low'] / 1e9:.3g}, {rate['high'] / 1e9:.3g}]"


def _rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers short enough to read; ends of intervals beside their middle."""
    found = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()}
    for key in [key for key in row if f"{key}_low" in row]:
        low, high = (number(row[f"{key}_{end}"], ".3g") for end in ("low", "high"))
        found[key] = f"{number(row[key], '.3g')} [{low}, {high}]"
        del found[f"{key}_low"], found[f"{key}_high"]
    return found


def _last(document: Mapping[str, Any]) -> str:
    found = document["break_even"]
    most = document["batches"][-1]["batch"]
    if isinstance(found, Mapping):
        return f"Break-even batch: {found['batch']} [{found['low']}, {found['high']}], of batches up to {most}."
    return f"Break-even batch: {found}, of batches up to {most}."
