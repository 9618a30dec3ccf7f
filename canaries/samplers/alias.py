"""Fast draws from many known laws: Walker's alias method, one uniform and two look-ups a draw (Vose 1991)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Generator, Tensor

Floats = npt.NDArray[np.float64]


class AliasTable:
    """Ready to draw from any row of `laws` (rows, V)."""

    def __init__(self, laws: Floats) -> None:
        self.vocabulary = laws.shape[1]
        made = [_alias(law) for law in laws]
        self._keep = torch.from_numpy(np.concatenate([keep for keep, _ in made]))
        self._other = torch.from_numpy(np.concatenate([other for _, other in made]))

    def draw(self, rows: Tensor, generator: Generator) -> Tensor:
        """A token from the law of each of `rows` (B,)."""
        u = torch.rand(rows.shape, generator=generator, dtype=torch.float64).mul_(self.vocabulary)
        cell = u.to(torch.int64)
        at = cell + rows * self.vocabulary
        return torch.where(u - cell < self._keep[at], cell, self._other[at])


def _alias(law: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """For each cell, the share of it that is its own token's, and the token that has the rest."""
    share = law * (len(law) / law.sum())
    keep, other = np.ones(len(law)), np.arange(len(law))
    small, large = list(np.flatnonzero(share < 1)), list(np.flatnonzero(share >= 1))
    while small and large:
        low, high = small.pop(), large[-1]
        keep[low], other[low] = share[low], high
        share[high] -= 1 - share[low]
        if share[high] < 1:
            small.append(large.pop())
    for left in small:  # rounding alone leaves a cell here; one of no mass must still never be drawn
        if law[left] == 0:
            keep[left], other[left] = 0.0, int(np.argmax(law))
    return keep, other
