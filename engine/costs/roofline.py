"""The roofline (Williams et al. 2009): a pass takes as long as its arithmetic or its reading, whichever is longer.

A dense model's pass over `n` tokens makes 2 operations a parameter and token, and reads every parameter once. Beside
the weights it reads what the cache holds of each row's context. The arithmetic of attention, what is written, and the
time in which a program waits are left out: times are lower bounds, and their ratios what a prediction rests on.
"""

from __future__ import annotations

from dataclasses import dataclass

from .devices import Device

OPERATIONS = 2  # a multiplication and an addition, for each parameter and token


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A dense model in memory: parameters, bytes of each, and bytes of cache that a pass reads for each row."""

    parameters: float
    bytes_each: float
    cached: float

    @property
    def size(self) -> float:
        """Bytes of all weights."""
        return self.parameters * self.bytes_each


def operations(weights: Weights, tokens: float) -> float:
    """FLOPs of a pass over `tokens` in all its rows."""
    return OPERATIONS * weights.parameters * tokens


def transferred(weights: Weights, rows: float) -> float:
    """Bytes that a pass over `rows` rows reads: the weights once, the cache of each."""
    return weights.size + weights.cached * rows


def intensity(weights: Weights, rows: float, width: float) -> float:
    """I = FLOPs / bytes of a pass over `width` tokens in each of `rows` rows."""
    return operations(weights, rows * width) / transferred(weights, rows)


def ridge(device: Device) -> float:
    """The intensity from which on a device computes all the time, FLOPs a byte."""
    return device.flops / device.bandwidth


def utilisation(device: Device, found: float) -> float:
    """The share of its peak that a device computes at this intensity."""
    return min(1.0, found / ridge(device))


def seconds(device: Device, weights: Weights, rows: float, width: float) -> float:
    """A pass over `width` tokens in each of `rows` rows: computing or reading, whichever takes longer."""
    computing = operations(weights, rows * width) / device.flops
    return max(computing, transferred(weights, rows) / device.bandwidth)


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineCosts:
    """Costs of rounds on a device in seconds. Without a draft, drafts cost nothing: as when earlier text is copied."""

    device: Device
    target: Weights
    draft_weights: Weights | None

    def step(self, rows: int, width: int) -> float:
        """One pass of the target."""
        return seconds(self.device, self.target, rows, width)

    def draft(self, rows: int, length: int) -> float:
        """As many passes of the draft as it drafts tokens."""
        return length * seconds(self.device, self.draft_weights, rows, 1) if self.draft_weights else 0.0
