"""Lossless samplers that look different: the judge must pass every one of them.

Same interface, different rules: `token` (Leviathan et al. 2023), `block` (Sun et al. 2024), and slower ones that are
lossless all the same. Vectorised over rows.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from ..interface import END


def draw(weights: Tensor, generator: Generator) -> Tensor:
    """One index a row of `weights` (B, V), with chance proportional to it, by inversion."""
    sums = weights.cumsum(dim=1)
    u = torch.rand((len(weights), 1), generator=generator, dtype=weights.dtype, device=weights.device)
    return torch.searchsorted(sums, u * sums[:, -1:], right=True)[:, 0].clamp_(max=weights.shape[1] - 1)


def ratios(p: Tensor, q: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """What target and draft give the draft tokens, both (B, K)."""
    return p[:, :-1].gather(2, x[..., None])[..., 0], q.gather(2, x[..., None])[..., 0]


def emitted(x: Tensor, accepted: Tensor, last: Tensor) -> Tensor:
    """The first `accepted` (B,) draft tokens of each row, then `last` (B,), then the end."""
    rows, k = x.shape
    out = torch.full((rows, k + 1), END, dtype=torch.int64, device=x.device)
    out[:, :k] = torch.where(torch.arange(k, device=x.device) < accepted[:, None], x, END)
    out[torch.arange(rows, device=x.device), accepted] = last
    return out


def residual(p: Tensor, q: Tensor, accepted: Tensor) -> Tensor:
    """`(p - q).clip(min=0)` at the rejected position, p where nothing was rejected; (B, V), not normalised."""
    rows = torch.arange(len(p), device=p.device)
    left = p[rows, accepted]
    lost = (accepted < q.shape[1]).nonzero()[:, 0]
    left[lost] = (left[lost] - q[lost, accepted[lost]]).clamp_(min=0)
    return left


def token(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Accept with chance min(1, p/q); after a rejection draw from the residual, after none from p."""
    px, qx = ratios(p, q, x)
    u = torch.rand(px.shape, generator=generator, dtype=p.dtype, device=p.device)
    accepted = (u * qx < px).long().cumprod(dim=1).sum(dim=1)
    return emitted(x, accepted, draw(residual(p, q, accepted), generator))
