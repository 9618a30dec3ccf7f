"""Wrong samplers: where their random numbers come from. The rule is the token rule throughout."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from ..interface import Sampler
from .innocent import emitted, ratios, residual, run_of, token

Source = Callable[[int, int, Generator], Tensor]
"""Uniforms (rows, K + 1) for one call: K for acceptance, the last for the token drawn after it."""


def with_uniforms(source: Source) -> Sampler:
    """The token rule by inversion on the uniforms of `source`."""

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        px, qx = ratios(p, q, x)
        u = source(len(p), p.shape[1], generator).to(p.dtype)
        accepted = run_of(u[:, :-1] * qx < px)
        sums = residual(p, q, accepted).cumsum(dim=1)
        last = torch.searchsorted(sums, u[:, -1:] * sums[:, -1:], right=True)[:, 0].clamp(max=p.shape[2] - 1)
        return emitted(x, accepted, last)

    return sampler


def fresh(rows: int, steps: int, generator: Generator) -> Tensor:
    """As it should be."""
    return torch.rand((rows, steps), generator=generator)


def shared_by_positions(rows: int, steps: int, generator: Generator) -> Tensor:
    """One uniform for all positions of a round."""
    return torch.rand((rows, 1), generator=generator).expand(rows, steps)


def shared_by_rows(rows: int, steps: int, generator: Generator) -> Tensor:
    """The stream is keyed by position only: every row of a call has the same."""
    return torch.rand((1, steps), generator=generator).expand(rows, steps)


def shared_by_calls(rows: int, steps: int, generator: Generator) -> Tensor:
    """A generator of its own, seeded anew in every call, from the seed it was given."""
    again = torch.Generator().manual_seed(generator.initial_seed() % 2**62)
    return torch.rand((rows, steps), generator=again)


def antithetic(rows: int, steps: int, generator: Generator) -> Tensor:
    """The second half of the rows has 1 - u of the first."""
    half = torch.rand(((rows + 1) // 2, steps), generator=generator)
    return torch.cat([half, 1 - half])[:rows].clamp(max=1 - 2**-24)


def overlapping(rows: int, steps: int, generator: Generator) -> Tensor:
    """One stream, moved on by one number a row instead of by K + 1."""
    return torch.rand(rows + steps - 1, generator=generator).unfold(0, steps, 1)


def repeating(period: int) -> Source:
    """The same uniforms again after so many rows of a call."""

    def source(rows: int, steps: int, generator: Generator) -> Tensor:
        return fresh(min(rows, period), steps, generator).repeat(-(-rows // period), 1)[:rows]

    return source


def repeating_last(period: int) -> Source:
    """Rows accept by their own uniforms; that of the token drawn after it is the same again after so many rows."""

    def source(rows: int, steps: int, generator: Generator) -> Tensor:
        return torch.cat([fresh(rows, steps - 1, generator), repeating(period)(rows, 1, generator)], dim=1)

    return source


def zeros(rows: int, steps: int, generator: Generator) -> Tensor:
    """Always 0."""
    return 0 * torch.rand((rows, steps), generator=generator)


def clipped(rows: int, steps: int, generator: Generator) -> Tensor:
    """Never above 0.9."""
    return torch.rand((rows, steps), generator=generator).clamp(max=0.9)


def from_the_global_generator(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """The generator that is handed over is ignored."""
    del generator
    return token(p, q, x, torch.default_generator)


def from_the_clock(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Seeded anew from the operating system."""
    del generator
    own = torch.Generator()
    own.seed()
    return token(p, q, x, own)
