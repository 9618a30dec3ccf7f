"""Draws predicted speed-up against batch, for a device and a machine: `python docs/roofline.py FILE`.

FILE is what `draftgate roofline --measure --save FILE` kept. Writes `docs/roofline.svg`, and a block of the results.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blocks
import numpy as np

from draftgate.canaries.report import dots
from draftgate.canaries.roofline import machine
from draftgate.canaries.roofline.device import Drafting
from draftgate.engine.costs.devices import find
from draftgate.engine.costs.roofline import RooflineCosts, Weights
from draftgate.engine.costs.speedup import Costs, best_length, break_even, cost_ratio, predicted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE = Path(__file__).parent
BEGIN = blocks.begin("roofline", "roofline")
DRAFTING = Drafting(acceptance=0.8, k=4, longest=8, most=512)
DEVICE, TARGET, DRAFT = find("h100-sxm5"), 70e9, 1e9  # the seeds' device and model, with a small draft
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def main(arguments: Sequence[str]) -> int:
    """The picture and the block stand rewritten."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python docs/roofline.py FILE\n")
        return 2
    measured = machine.read(Path(arguments[0]))
    results = HERE / "results.md"
    text = blocks.replaced(results.read_text(encoding="utf-8"), BEGIN, page(measured))
    results.write_text(text, encoding="utf-8")
    (HERE / "roofline.svg").write_text(drawing(measured), encoding="utf-8")
    return 0


def of_device() -> RooflineCosts:
    """Target and draft in BF16."""
    target, draft = (Weights(parameters=size, bytes_each=2, cached=0) for size in (TARGET, DRAFT))
    return RooflineCosts(device=DEVICE, target=target, draft_weights=draft)


def drawing(measured: Mapping[str, Any]) -> str:
    """A row a batch: the device's point, and this machine's with its interval as far as it was measured."""
    found = machine.times(measured)
    most = max(one.rows for one in found)
    costs = list(_drawn(found))
    rows = []
    for batch in BATCHES:
        points = [_point("H100, 70 + 1 billion", [of_device()], batch)]
        points += [_point("measured: results.md", costs, batch)] if batch <= most else []
        rows.append(dots.Row(f"batch {batch}", points))
    title = f"speed-up, a = {DRAFTING.acceptance:g}, K = {DRAFTING.k}"
    return dots.plot(title, rows, least=0, most=4, step=0.5)


def _drawn(found: Mapping[Any, Any]) -> Iterator[Costs]:
    """Costs by all turns, then by turns drawn again and again."""
    turns, rng = len(next(iter(found.values()))), np.random.default_rng(machine.SEED)
    yield machine.costs(found, np.arange(turns))
    for _ in range(machine.RESAMPLES):
        yield machine.costs(found, rng.integers(turns, size=turns))


def _point(series: str, costs: Sequence[Costs], batch: int) -> dots.Dot:
    first, *others = (predicted(one, DRAFTING.acceptance, batch, DRAFTING.k) for one in costs)
    low, high = np.quantile([first, *others], [(1 - machine.CONFIDENCE) / 2, (1 + machine.CONFIDENCE) / 2])
    return dots.Dot(series, first, float(low), float(high))


def page(measured: Mapping[str, Any]) -> str:
    """What was measured and what follows from it."""
    found, on = machine.times(measured), measured["machine"]
    ours, theirs = next(_drawn(found)), of_device()
    most = max(one.rows for one in found)
    last = machine.crossover(found, Drafting(acceptance=DRAFTING.acceptance, k=4, longest=DRAFTING.longest, most=most))
    edge = break_even(theirs, DRAFTING.acceptance, DRAFTING.longest, DRAFTING.most)
    ends = f"batch {last['batch']} [{last['low']}, {last['high']}]"
    until = f"at every batch up to {most}, the largest measured" if last["low"] == most else f"up to {ends}"
    head = ("batch", "t(1) ms", "t(2)", "t(3)", "t(5)", "t(9)", "c", "best K", "predicted")
    rows = [_row(ours, batch) for batch in sorted({one.rows for one in found})]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(
        [
            "## Costs",
            "",
            f"The embedded family on {on['processor']}, {on['threads']} thread, by {measured['clock']} time, on a",
            "machine that was busy with other work: t(width) of the target in t(1) of the same batch, behind",
            f"{measured['context']} tokens; c of the draft; predicted is the best K up to {DRAFTING.longest} at an",
            f"acceptance of {DRAFTING.acceptance:g}. Speculation pays {until}. On {DEVICE.title},",
            f"by its roofline, a target of 70 billion with a draft of one pays up to batch {edge}.",
            "",
            *lines,
            "",
            "![predicted speed-up by batch](roofline.svg)",
        ]
    )


def _row(costs: Costs, batch: int) -> list[str]:
    one = costs.step(batch, 1)
    best = best_length(costs, DRAFTING.acceptance, batch, DRAFTING.longest)
    wider = [f"{costs.step(batch, width) / one:.2f}" for width in (2, 3, 5, 9)]
    gain = predicted(costs, DRAFTING.acceptance, batch, best)
    return [str(batch), f"{1e3 * one:.1f}", *wider, f"{cost_ratio(costs, batch, 1):.2f}", str(best), f"{gain:.2f}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
