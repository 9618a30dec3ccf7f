"""Wrong pairs and wrong trees: faults that live in the drafter, between drafter and sampler, or among siblings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from ..adapters.trees import tree
from ..interface import Drafted, Pair
from .innocent import draw, emitted, ratios, residual, run_of, token


def drawn(probs: Tensor, generator: Generator) -> Drafted:
    """As it should be: a token from the law that is reported."""
    return Drafted(draw(probs, generator), probs)


def drawn_filtered(probs: Tensor, generator: Generator) -> Drafted:
    """Drawn after the least likely tokens were cut off, reported as if they had not been."""
    kept = probs >= probs.quantile(0.4, dim=1, keepdim=True)
    return Drafted(draw(probs * kept, generator), probs)


def likeliest(probs: Tensor, generator: Generator) -> Drafted:
    """The likeliest token, reported as if it had been drawn."""
    del generator
    return Drafted(probs.argmax(dim=1), probs)


def likeliest_as_such(probs: Tensor, generator: Generator) -> Drafted:
    """The likeliest token, reported as one-hot: chosen, and no fault."""
    del generator
    chosen = probs.argmax(dim=1)
    return Drafted(chosen, torch.nn.functional.one_hot(chosen, probs.shape[1]).to(probs.dtype))


def drawn_in_bfloat16(probs: Tensor, generator: Generator) -> Drafted:
    """Drawn from a law rounded to bfloat16, reported in full precision."""
    return Drafted(draw(probs.bfloat16().to(probs.dtype), generator), probs)


def reused_noise() -> Pair:
    """A pair whose sampler accepts by the very uniforms that its drafter drew the tokens with."""
    noise: list[Tensor] = []

    def drafter(probs: Tensor, generator: Generator) -> Drafted:
        u = torch.rand((len(probs), 1), generator=generator, dtype=probs.dtype)
        noise.append(u)
        sums = probs.cumsum(dim=1)
        return Drafted(torch.searchsorted(sums, u * sums[:, -1:], right=True)[:, 0], probs)

    def sampler(p: Tensor, q: Tensor, x: Tensor, generator: Generator) -> Tensor:
        u = torch.cat(noise, dim=1)
        noise.clear()
        px, qx = ratios(p, q, x)
        accepted = run_of(u * qx < px)
        return emitted(x, accepted, draw(residual(p, q, accepted), generator))

    return Pair(drafter, sampler)


honest_pair = Pair(drawn, token)
rounded_pair = Pair(drawn_in_bfloat16, token)
chosen_pair = Pair(likeliest_as_such, token)


class Walk:
    """The multi-draft rule on one tree, with slips: `forget` what refused siblings took from p; `whole` q for each."""

    def __init__(self, *, forget: bool = False, whole: bool = False) -> None:
        self._forget, self._whole = forget, whole

    def __call__(self, tokens: Any, parents: Any, target: Any, draft: Any, rng: np.random.Generator) -> Sequence[int]:
        """What the round emits."""
        node, out = 0, list[int]()
        while True:
            children = [n for n, parent in enumerate(parents, 1) if parent == node]
            accepted, p = self._kept(children, tokens, target[node], draft, rng)
            if not accepted:
                return [*out, int(rng.choice(len(p), p=p))]
            node = accepted
            out.append(int(tokens[node - 1]))

    def _kept(self, children: Any, tokens: Any, p: Any, draft: Any, rng: np.random.Generator) -> tuple[int, Any]:
        """The accepted child, or 0 and the law that is left."""
        whole = p
        for child in children:
            token, q = int(tokens[child - 1]), draft[(children[0] if self._whole else child) - 1]
            if rng.random() * q[token] < (whole if self._forget else p)[token]:
                return child, p
            left = np.clip(p - q, 0, None)
            p = left / left.sum() if left.sum() > 0 else whole
        return 0, p


honest_tree = tree(Walk())
honest_distinct_tree = tree(Walk(), distinct=True)
naive_tree = tree(Walk(forget=True))
not_renormalised = tree(Walk(whole=True), distinct=True)
