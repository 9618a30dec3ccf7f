"""The token rule in torch, with its ways to draw and its slips exposed, as samplers of the interface."""

from __future__ import annotations

from functools import partial

import torch


def uniforms(shape, g):
    return torch.rand(shape, generator=g, dtype=torch.float64)


def by_multinomial(left, g, u):
    return torch.multinomial(left, 1, generator=g)[:, 0]


def by_race(left, g, u):
    return (left / torch.empty_like(left).exponential_(generator=g)).argmax(-1)


def by_race_row_by_row(left, g, u):
    noise = torch.empty_like(left)
    for row in range(len(left)):
        noise[row].exponential_(generator=g)
    return left.div_(noise).argmax(dim=-1, keepdim=True).squeeze(-1)


def by_gumbel(left, g, u):
    return (left.log() - torch.log(-torch.log(uniforms(left.shape, g)))).argmax(-1)


def by_sum(left, g, u):
    return (_cdf(left) < uniforms((len(left), 1), g)).sum(-1).clamp(max=left.shape[-1] - 1)


def by_search(left, g, u):
    return torch.searchsorted(_cdf(left), uniforms((len(left), 1), g))[:, 0].clamp(max=left.shape[-1] - 1)


def by_the_first_uniform(left, g, u):
    """Wrong: the uniform of the first acceptance draws the last token, too."""
    return (_cdf(left) < u[:, :1]).sum(-1).clamp(max=left.shape[-1] - 1)


def _cdf(left):
    return (left / left.sum(-1, keepdim=True)).cumsum(-1)


def sampler(p, q, x, g, *, draw=by_multinomial, lenient=1.0, shared=False, residual=True):  # noqa: PLR0913
    """Honest as it stands."""
    rows, k = x.shape
    px, qx = (law[:, :k].gather(-1, x[..., None]).squeeze(-1) for law in (p, q))
    u = torch.rand(rows, 1 if shared else k, generator=g, dtype=p.dtype).expand(rows, k)
    kept = (u * qx < lenient * px).long().cumprod(1).sum(1)
    left = torch.cat([(p[:, :k] - q).clamp(min=0) if residual else p[:, :k], p[:, k:]], dim=1)
    last = draw(left[torch.arange(rows), kept], g, u)
    out = torch.full((rows, k + 1), -1)
    for row in range(rows):
        out[row, : kept[row]] = x[row, : kept[row]]
        out[row, kept[row]] = last[row]
    return out


HONEST = {
    way.__name__: partial(sampler, draw=way)
    for way in (by_multinomial, by_race, by_race_row_by_row, by_gumbel, by_sum, by_search)
}
WRONG = {
    "2 % lenient": partial(sampler, lenient=1.02),
    "one uniform for all positions": partial(sampler, shared=True),
    "the replacement from p": partial(sampler, residual=False),
    "the last token by a used uniform": partial(sampler, draw=by_the_first_uniform),
}
