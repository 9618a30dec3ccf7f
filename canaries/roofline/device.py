"""What a roofline says of a model on a device: the figures of one pass, and speed-up against batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ...engine.costs import roofline
from ...engine.costs.devices import Device
from ...engine.costs.roofline import RooflineCosts, Weights
from ...engine.costs.speedup import Costs, best_length, break_even, cost_ratio, expected_tokens, ideal, predicted

GIGA = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """Drafts of `k` tokens, each kept with chance `acceptance`; the most drafts and the largest batch to look at."""

    acceptance: float
    k: int
    longest: int
    most: int


def document(device: Device, target: Weights, draft: Weights | None, drafting: Drafting) -> dict[str, Any]:
    """All of it, as plain JSON."""
    costs = RooflineCosts(device=device, target=target, draft_weights=draft)
    return {
        "device": asdict(device),
        "target": asdict(target),
        "draft": asdict(draft) if draft else None,
        "figures": [*of_a_pass(device, target), *of_a_round(costs, drafting)],
        "batches": batches(costs, drafting),
        "break_even": break_even(costs, drafting.acceptance, drafting.longest, drafting.most),
    }


def of_a_pass(device: Device, target: Weights) -> Iterator[dict[str, Any]]:
    """Of one step of plain decoding at batch 1."""
    found = roofline.intensity(target, 1, 1)
    read = roofline.transferred(target, 1)
    took = roofline.seconds(device, target, 1, 1)
    yield figure("intensity", found, "FLOP/byte", f"{roofline.operations(target, 1):.4g} FLOP / {read:.4g} bytes")
    yield figure("ridge", roofline.ridge(device), "FLOP/byte", f"{device.flops:.4g} / {device.bandwidth:.4g} a second")
    yield figure("utilisation", 100 * roofline.utilisation(device, found), "%", "intensity / ridge, at most 100 %")
    yield figure("pass", 1e3 * took, "ms", f"{read / GIGA:.4g} GB / {device.bandwidth / GIGA:.4g} GB/s, or computing")
    yield figure("ceiling", 1 / took, "tok/s", "one token a pass, batch 1")


def of_a_round(costs: Costs, drafting: Drafting) -> Iterator[dict[str, Any]]:
    """Of one round at batch 1."""
    alpha, k = drafting.acceptance, drafting.k
    c = cost_ratio(costs, 1, k)
    best = best_length(costs, alpha, 1, drafting.longest)
    yield figure("tokens", expected_tokens(alpha, k), "a round", f"(1 - {alpha:g}^{k + 1}) / (1 - {alpha:g}), K = {k}")
    yield figure("c", c, "of a pass", "a drafted token; some K pays only if the acceptance is above it")
    yield figure("ideal", ideal(alpha, k, c), "x", "tokens / (1 + c K): a wider pass is free")
    yield figure("speed-up", predicted(costs, alpha, 1, k), "x", "tokens / (t(K + 1) / t(1) + c K), batch 1")
    yield figure("best K", best, "drafts", f"{predicted(costs, alpha, 1, best):.2f}x, of K up to {drafting.longest}")


def figure(name: str, value: float, unit: str, how: str) -> dict[str, Any]:
    """A line of the table."""
    return {"figure": name, "value": value, "unit": unit, "how": how}


def batches(costs: Costs, drafting: Drafting) -> list[dict[str, Any]]:
    """Speed-up at batches of powers of two: of the stated draft length, and of the best."""
    rows = []
    batch = 1
    while batch <= drafting.most:
        best = best_length(costs, drafting.acceptance, batch, drafting.longest)
        rows.append(
            {
                "batch": batch,
                "step_ms": 1e3 * costs.step(batch, 1),
                "wider": costs.step(batch, drafting.k + 1) / costs.step(batch, 1),
                "speedup": predicted(costs, drafting.acceptance, batch, drafting.k),
                "best_k": best,
                "best": predicted(costs, drafting.acceptance, batch, best),
            }
        )
        batch *= 2
    return rows
