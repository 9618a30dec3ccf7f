"""Plants in who sees whom: a verify pass taken for a prefill, a tree whose siblings see one another.

Both sit in the mask that a transformers model is given: any other sort of model is refused: nothing would be planted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ...engine.cache.base import Cache
from ...engine.models.base import LanguageModel
from ...engine.models.huggingface import HuggingFaceModel
from ..errors import UsageError
from ..targets.strategies import Strategies

Seen = npt.NDArray[np.bool_]


class Masked(HuggingFaceModel):
    """A model that is there already, under another mask: the same weights and the same pass, nothing is loaded anew."""

    def __init__(self, inner: LanguageModel) -> None:
        """Raises UsageError for what is no transformers model: its mask cannot be exchanged."""
        if not isinstance(inner, HuggingFaceModel):
            raise UsageError("this fault is planted in the mask of a transformers model; name one with --model")
        vars(self).update(vars(inner))


class VerifySeesItself(Masked):
    """A block of two tokens and more attends to itself alone, whatever the cache holds: as if nothing stood before it.

    Positions are right and what is written is kept, as in vLLM#40914. One token at a time is decoded as it should be.
    """

    def _masks(self, seen: Seen, places: Tensor, cache: Cache) -> Tensor | dict[str, Tensor]:
        if seen.shape[1] > 1:
            seen = seen & (np.arange(seen.shape[2]) >= cache.lengths[:, None, None])
        return super()._masks(seen, places, cache)


class SiblingsAttend(Masked):
    """A tree is scored under a chain's mask: every node sees all that were numbered before it."""

    def _masks(self, seen: Seen, places: Tensor, cache: Cache) -> Tensor | dict[str, Tensor]:
        nodes = places.shape[1]
        wide = np.broadcast_to(seen, (len(cache.lengths), *seen.shape[1:])).copy()
        for row, length in enumerate(cache.lengths):
            wide[row, :, length : length + nodes] |= np.tri(nodes, dtype=bool)
        return super()._masks(wide, places, cache)


def verify_sees_itself(strategies: Strategies) -> Strategies:
    """F53 as the public report had it, alone (F53b) and under load (F53c)."""
    return replace(strategies, model=VerifySeesItself)


def let_siblings_attend(strategies: Strategies) -> Strategies:
    """F62."""
    return replace(strategies, model=SiblingsAttend)
