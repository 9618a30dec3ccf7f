"""Two samplers of one's own: one right, one subtly wrong. `draftgate sampler examples/my_samplers.py:right`."""

import torch


def right(target_probs, draft_probs, draft_tokens, generator):
    """Speculative sampling as in Leviathan et al. 2023, all rows at once."""
    rows, k = draft_tokens.shape
    p = target_probs[:, :k].gather(2, draft_tokens[..., None])[..., 0]
    q = draft_probs.gather(2, draft_tokens[..., None])[..., 0]
    accepted = (torch.rand(p.shape, generator=generator) * q < p).long().cumprod(1).sum(1)
    every = torch.arange(rows)
    q_there = torch.cat([draft_probs, torch.zeros_like(target_probs[:, :1])], dim=1)[every, accepted]
    left = (target_probs[every, accepted] - q_there).clamp(min=0)
    tokens = torch.cat([draft_tokens, draft_tokens[:, :1]], dim=1)
    tokens[every, accepted] = torch.multinomial(left, 1, generator=generator)[:, 0]
    return torch.where(torch.arange(k + 1) > accepted[:, None], -1, tokens)


def wrong(target_probs, draft_probs, draft_tokens, generator):
    """The same, but the residual is taken at the first position, whichever was rejected."""
    rows, k = draft_tokens.shape
    p = target_probs[:, :k].gather(2, draft_tokens[..., None])[..., 0]
    q = draft_probs.gather(2, draft_tokens[..., None])[..., 0]
    accepted = (torch.rand(p.shape, generator=generator) * q < p).long().cumprod(1).sum(1)
    every = torch.arange(rows)
    left = torch.where(
        (accepted == k)[:, None],
        target_probs[every, accepted],
        (target_probs[every, accepted] - draft_probs[:, 0]).clamp(min=0) + 1e-9,
    )
    tokens = torch.cat([draft_tokens, draft_tokens[:, :1]], dim=1)
    tokens[every, accepted] = torch.multinomial(left, 1, generator=generator)[:, 0]
    return torch.where(torch.arange(k + 1) > accepted[:, None], -1, tokens)
