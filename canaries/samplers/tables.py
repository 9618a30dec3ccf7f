"""The laws of a bundle as tensors, ready to be handed out, drawn from and looked up. States are those of `laws`."""

from __future__ import annotations

import numpy as np
import torch
from torch import Generator, Tensor

from .alias import AliasTable
from .laws import Bundle


class Tables:
    """The laws of a bundle of M problems. A row's state at position i is `problem * S**i + state`.

    target (M * S**K, K + 1, V) and draft (M * S**K, K, V) hold, for each state at the last position, the laws on the
    way there, ready for the sampler; target_at[i] and draft_at[i] (M * S**i, V) each position's laws in float64.
    """

    def __init__(self, bundle: Bundle, dtype: torch.dtype, device: torch.device) -> None:
        self._memory = bundle.memory
        k, s, problems = bundle.draft_length, bundle.memory, bundle.problems
        ends = np.arange(len(problems) * s**k)
        target = [np.concatenate([p.target[i] for p in problems]) for i in range(k + 1)]
        draft = [np.concatenate([p.draft[i] for p in problems]) for i in range(k)]
        passed = [laws[ends // s ** (k - i)] for i, laws in enumerate(target)]
        self.target = torch.from_numpy(np.stack(passed, axis=1)).to(device, dtype)
        self.target_at = [torch.from_numpy(laws) for laws in target]
        self.draft_at = [torch.from_numpy(laws) for laws in draft]
        self.draft = self.target[:, :0]
        if k:
            passed = [laws[ends // s ** (k - i)] for i, laws in enumerate(draft)]
            self.draft = torch.from_numpy(np.stack(passed, axis=1)).to(device, dtype)
        self.drafting = [AliasTable(laws) for laws in draft]
        self.completing = [AliasTable(laws) for laws in target]
        self._drafter = [laws.to(device, dtype) for laws in self.draft_at]

    def next(self, state: Tensor, token: Tensor) -> Tensor:
        """The states after `token`, all (B,)."""
        return state * self._memory + token % self._memory

    def drafter_laws(self, place: int, state: Tensor) -> Tensor:
        """The draft model's law for each row at this position, (B, V)."""
        laws = self._drafter[place]
        return laws.index_select(0, state.to(laws.device))


def likelier_first(probs: Tensor, tokens: Tensor, generator: Generator) -> Tensor:
    """Tokens (B,) as numbers uniform on [0, 1] if each was drawn from its own row of `probs` (B, V)."""
    mass = probs.gather(1, tokens[:, None])
    ahead = (probs > mass) | ((probs == mass) & (torch.arange(probs.shape[1]) < tokens[:, None]))
    below = torch.where(ahead, probs, 0.0).sum(dim=1)
    v = torch.rand(tokens.shape, generator=generator, dtype=torch.float64)
    return torch.addcmul(below, v, mass[:, 0]).clamp_(0, 1)
