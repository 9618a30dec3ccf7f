"""Lossless samplers that look different: the judge must pass every one of them.

Same interface, different rules: `token` (Leviathan et al. 2023), `block` (Sun et al. 2024), and slower ones that are
lossless all the same. Vectorised over rows.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from ....engine.verification.lossless import Lossless
from ..adapters.batches import greedy
from ..adapters.trees import BRANCHED, engine
from ..interface import END


def draw(weights: Tensor, generator: Generator) -> Tensor:
    """One index a row of `weights` (B, V), with chance proportional to it, by inversion; never one of weight 0."""
    sums = weights.cumsum(dim=1)
    u = torch.rand((len(weights), 1), generator=generator, dtype=weights.dtype, device=weights.device)
    return torch.searchsorted(sums, u * sums[:, -1:], right=True)[:, 0].clamp_(max=weights.shape[1] - 1)


def ratios(p: Tensor, q: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """What target and draft give the draft tokens, both (B, K)."""
    return p[:, :-1].gather(2, x[..., None])[..., 0], q.gather(2, x[..., None])[..., 0]


def uniforms(like: Tensor, generator: Generator) -> Tensor:
    """Uniforms of the shape, type and device of `like`."""
    return torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)


def run_of(kept: Tensor) -> Tensor:
    """How many entries of each row of `kept` (B, K) are true before the first that is not, (B,)."""
    return kept.long().cumprod(dim=1).sum(dim=1)


def emitted(x: Tensor, accepted: Tensor, last: Tensor) -> Tensor:
    """The first `accepted` (B,) draft tokens of each row, then `last` (B,), then the end."""
    rows, k = x.shape
    out = torch.full((rows, k + 1), END, dtype=torch.int64, device=x.device)
    out[:, :k] = torch.where(torch.arange(k, device=x.device) < accepted[:, None], x, END)
    out[torch.arange(rows, device=x.device), accepted] = last
    return out


def after(laws: Tensor, place: Tensor) -> Tensor:
    """The law of each row at its own `place` (B,), as a copy (B, V)."""
    return laws[torch.arange(len(laws), device=laws.device), place]


def residual(p: Tensor, q: Tensor, accepted: Tensor) -> Tensor:
    """`(p - q).clip(min=0)` at the rejected position, p where nothing was rejected; (B, V), not normalised."""
    left = after(p, accepted)
    lost = (accepted < q.shape[1]).nonzero()[:, 0]
    left[lost] = (left[lost] - q[lost, accepted[lost]]).clamp_(min=0)
    return left


def token(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Accept with chance min(1, p/q); after a rejection draw from the residual, after none from p."""
    px, qx = ratios(p, q, x)
    accepted = run_of(uniforms(px, generator) * qx < px)
    return emitted(x, accepted, draw(residual(p, q, accepted), generator))


def block(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Block verification (2403.10444): the longest prefix whose own test succeeds is kept."""
    rows, k = x.shape
    px, qx = ratios(p, q, x)
    weight = torch.ones((rows, k + 1), dtype=p.dtype)
    for i in range(k):
        weight[:, i + 1] = (weight[:, i] * px[:, i] / qx[:, i]).clamp(max=1)
    left = (weight[:, :-1, None] * p[:, :-1] - q).clamp(min=0)
    rest = left.sum(dim=2)
    chance = torch.ones((rows, k + 1), dtype=p.dtype)
    chance[:, :-1] = torch.where(rest > 0, rest / (rest + 1 - weight[:, :-1]), (weight[:, :-1] == 1).to(p.dtype))
    chance[:, k] = weight[:, k]
    kept = uniforms(chance[:, 1:], generator) < chance[:, 1:]
    accepted = (kept * torch.arange(1, k + 1)).amax(dim=1)
    law = torch.cat([left, p[:, k:]], dim=1)
    return emitted(x, accepted, draw(after(law, accepted), generator))


def other_order(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """The token rule with chance used the other way round: the last token's first, 1 - u for u."""
    px, qx = ratios(p, q, x)
    late = torch.rand((len(p), 1), generator=generator, dtype=p.dtype)
    accepted = run_of((1 - uniforms(px, generator)) * qx <= px)
    sums = residual(p, q, accepted).flip(1).cumsum(dim=1)
    at = torch.searchsorted(sums, late * sums[:, -1:], right=True)[:, 0]
    return emitted(x, accepted, p.shape[2] - 1 - at.clamp(max=p.shape[2] - 1))


def resample_until_disagree(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """The target's own samples are emitted, as long as they agree with the draft; q is not looked at."""
    del q
    rows, steps, vocabulary = p.shape
    own = draw(p.reshape(rows * steps, vocabulary), generator).reshape(rows, steps)
    agreed = run_of(own[:, :-1] == x)
    return emitted(x, agreed, own[torch.arange(rows), agreed])


def no_bonus(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """The token rule, but after a full acceptance nothing more is emitted: shorter, not wrong."""
    tokens = token(p, q, x, generator)
    if x.shape[1]:
        tokens[:, -1] = END
    return tokens


def ignore_draft(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """One token from p whatever was drafted: plain decoding."""
    del q
    return emitted(x, torch.zeros(len(p), dtype=torch.int64), draw(p[:, 0].contiguous(), generator))


def assumed_chosen(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Drafts that were drawn are taken for chosen ones: whatever the token is, the one-hot rule emits p."""
    return token(p, torch.nn.functional.one_hot(x, q.shape[2]).to(q.dtype), x, generator)


def first_largest(logits: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Verification at T = 0: drafts are kept while they are the first of the largest logits."""
    del q, generator
    best = logits.argmax(dim=-1)
    accepted = run_of(best[:, :-1] == x)
    return emitted(x, accepted, best[torch.arange(len(x)), accepted])


greedy_chain = greedy(first_largest)
multi_draft = engine(Lossless(), BRANCHED)
"""SpecInfer's rule on a small tree, siblings drawn with replacement: the engine's own walk."""
multi_draft_distinct = engine(Lossless(), BRANCHED, distinct=True)
"""The same with siblings drawn without replacement, each stating its law given those before it."""
