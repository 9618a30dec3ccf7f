"""Which entries a node may attend to: the committed ones of its row, its ancestors in the block, and itself.

Masks are additive, in the dtype the model computes in: a boolean 4-D mask is silently wrong under eager attention.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..tree import ancestry, chain_parents, depths
from .base import Block

Ints = npt.NDArray[np.int64]


def visible(block: Block, lengths: Ints) -> npt.NDArray[np.bool_]:
    """(rows, nodes, entries): committed entries first, then the block itself, starting at each row's own length."""
    rows, width = block.tokens.shape
    reach = int(lengths.max(initial=0)) + width
    if set(block.parents) == {chain_parents(width - 1)}:
        return np.arange(reach) <= lengths[:, None, None] + np.arange(width)[:, None]
    committed = np.arange(reach)[None, None, :] < lengths[:, None, None]
    seen = np.repeat(committed, width, axis=1)
    own = np.broadcast_to(lengths[:, None, None] + np.arange(width), (rows, width, width))
    np.put_along_axis(seen, own, _stacked(block, width, _padded_ancestry), axis=2)
    return seen


def additive(seen: npt.NDArray[np.bool_], dtype: torch.dtype) -> Tensor:
    """(rows, 1, nodes, entries): 0 where seen, the dtype's lowest value elsewhere."""
    mask = torch.full(seen.shape, torch.finfo(dtype).min, dtype=dtype)
    return mask.masked_fill_(torch.from_numpy(seen), 0.0)[:, None]


def positions(block: Block, lengths: Ints) -> Tensor:
    """(rows, nodes): committed length plus depth in the tree; 0 depth where there is only padding."""
    return torch.from_numpy(_stacked(block, block.tokens.shape[1], _padded_depths) + lengths[:, None])


def _stacked(
    block: Block, width: int, of: Callable[[tuple[int, ...], int], npt.NDArray[np.generic]]
) -> npt.NDArray[Any]:
    """One array a row, or one for all where they have the same tree."""
    if len(set(block.parents)) == 1:
        return of(block.parents[0], width)[None]
    return np.stack([of(parents, width) for parents in block.parents])


@lru_cache(maxsize=4096)
def _padded_ancestry(parents: tuple[int, ...], width: int) -> npt.NDArray[np.bool_]:
    """(width, width): ancestry of the tree; padding sees itself alone."""
    seen = np.eye(width, dtype=bool)
    seen[: len(parents), : len(parents)] = ancestry(parents)
    return seen


@lru_cache(maxsize=4096)
def _padded_depths(parents: tuple[int, ...], width: int) -> Ints:
    """(width,): depth of each node."""
    return np.pad(depths(parents), (0, width - len(parents)))
