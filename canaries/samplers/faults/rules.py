"""Wrong samplers: acceptance, residual, temperature and rows. Each is one slip in the token rule; the name says which.

They are handed to the judge like any sampler of a user; nothing that is used in earnest knows them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from ..adapters.batches import greedy
from ..interface import Sampler
from .innocent import after, draw, emitted, first_largest, ratios, residual, run_of, token, uniforms

Change = Callable[[Tensor], Tensor]
Left = Callable[[Tensor, Tensor], Tensor]


def accept_everything(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """All draft tokens are kept."""
    accepted = torch.full((len(x),), x.shape[1])
    return emitted(x, accepted, draw(residual(p, q, accepted), generator))


def with_residual(left: Left) -> Sampler:
    """The token rule with another law after a rejection: `left(p, q)` (B, V), not normalised."""

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        px, qx = ratios(p, q, x)
        accepted = run_of(uniforms(px, generator) * qx < px)
        law = after(p, accepted)
        lost = (accepted < x.shape[1]).nonzero()[:, 0]
        law[lost] = left(law[lost], q[lost, accepted[lost]])
        return emitted(x, accepted, draw(law + 1e-12, generator))

    return sampler


def likeliest(law: Tensor) -> Tensor:
    """One-hot at the largest entry of each row."""
    return torch.nn.functional.one_hot(law.argmax(dim=1), law.shape[1]).to(law.dtype)


def with_target(change: Change) -> Sampler:
    """The token rule, the target's laws (B, K + 1, V) changed beforehand."""

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        return token(change(p), q, x, generator)

    return sampler


def with_draft(change: Change) -> Sampler:
    """The token rule, the draft's laws (B, K, V) changed beforehand."""

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        return token(p, change(q), x, generator)

    return sampler


def tempered(temperature: float) -> Change:
    """Laws at another temperature: `p ** (1 / T)`, normalised."""

    def change(p: Tensor) -> Tensor:
        powered = p ** (1 / temperature)
        return powered / powered.sum(dim=-1, keepdim=True)

    return change


def sharp(p: Tensor) -> Tensor:
    """Every law one-hot at its largest entry."""
    return torch.nn.functional.one_hot(p.argmax(dim=-1), p.shape[-1]).to(p.dtype)


def sharp_first(p: Tensor) -> Tensor:
    """The first position's law one-hot, the others as they are."""
    changed = p.clone()
    changed[:, 0] = sharp(p[:, 0])
    return changed


def unfiltered(p: Tensor) -> Tensor:
    """Filters on the last row only: before it, tokens that were cut off have a little mass again."""
    changed = 0.98 * p + 0.02 / p.shape[-1]
    changed[:, -1] = p[:, -1]
    return changed


def lenient(more: float) -> Sampler:
    """A draft token is accepted `more` times as often as it should be."""

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        px, qx = ratios(p, q, x)
        accepted = run_of(uniforms(px, generator) * qx < px * more)
        return emitted(x, accepted, draw(residual(p, q, accepted) + 1e-12, generator))

    return sampler


def over_the_largest(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Accepts with chance p(x) / max(p)."""
    px, _ = ratios(p, q, x)
    accepted = run_of(uniforms(px, generator) * p[:, :-1].amax(dim=2) < px)
    return emitted(x, accepted, draw(residual(p, q, accepted) + 1e-12, generator))


def above_a_threshold(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Accepts whatever the target gives more than 0.09: a lossy rule that nobody declared."""
    px, _ = ratios(p, q, x)
    accepted = run_of(px > 0.09)  # noqa: PLR2004 - the fault as it was reported
    return emitted(x, accepted, draw(residual(p, q, accepted) + 1e-12, generator))


def equality(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Accepts where the target's own sample agrees, but draws anew from p where it does not."""
    del q
    rows, steps, vocabulary = p.shape
    own = draw(p.reshape(rows * steps, vocabulary), generator).reshape(rows, steps)
    agreed = run_of(own[:, :-1] == x)
    return emitted(x, agreed, draw(after(p, agreed), generator))


def bonus_from_draft(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """After a full acceptance the last token comes from the draft's last law."""
    px, qx = ratios(p, q, x)
    accepted = run_of(uniforms(px, generator) * qx < px)
    law = residual(p, q, accepted)
    full = accepted == x.shape[1]
    law[full] = q[full, -1]
    return emitted(x, accepted, draw(law, generator))


def block_with_token_residual(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Block acceptance by running products, followed by the token rule's residual."""
    px, qx = ratios(p, q, x)
    weight = (px / qx).cumprod(dim=1).clamp(max=1)
    kept = uniforms(px, generator) < weight
    accepted = (kept * torch.arange(1, x.shape[1] + 1)).amax(dim=1)
    return emitted(x, accepted, draw(residual(p, q, accepted) + 1e-12, generator))


def row_before(p: Tensor) -> Tensor:
    """Each position's law is the one of the position before."""
    return torch.cat([p[:, :1], p[:, :-1]], dim=1)


def row_of_another(p: Tensor) -> Tensor:
    """Requests are counted where tokens should be: row b gets the laws of row b // (K + 1)."""
    return p[torch.arange(len(p)) // p.shape[1]]


def left_over(q: Tensor) -> Tensor:
    """The draft's laws are what an earlier batch left in the buffer: those of the neighbour."""
    return q.roll(1, dims=0)


def in_half_precision(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """Ratios in float16: what underflows to 0/0 or below counts as accepted."""
    px, qx = (law.half() for law in ratios(p, q, x))
    refused = (px > 0) & (uniforms(p[:, :-1, 0], generator) * qx >= px)
    accepted = run_of(~refused)
    return emitted(x, accepted, draw(residual(p, q, accepted) + 1e-12, generator))


def nan_rows(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """One round in a hundred has a NaN in its first draft law: nothing is accepted and argmax finds token 0."""
    tokens = token(p, q, x, generator)
    bad = torch.rand(len(p), generator=generator) < 0.01  # noqa: PLR2004 - the fault as it was reported
    return torch.where(bad[:, None], emitted(x, torch.zeros_like(tokens[:, 0]), torch.zeros_like(tokens[:, 0])), tokens)


def _last_largest(logits: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    last = logits.shape[-1] - 1 - logits.flip(-1).argmax(dim=-1)
    return first_largest(torch.nn.functional.one_hot(last, logits.shape[-1]).to(logits.dtype), q, x, generator)


last_of_equals = greedy(_last_largest)
"""The verifier takes the last of equal maxima where the target takes the first."""


def writes_to_target(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
    """The target's mass of the draft token is set to 0 in the caller's own tensor."""
    tokens = token(p, q, x, generator)
    p[:, :-1].scatter_(2, x[..., None], 0.0)
    return tokens
