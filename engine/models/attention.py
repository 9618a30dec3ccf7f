"""Which entries a node may attend to: the committed ones of its row, its ancestors in the block, and itself.

Masks are additive, in the dtype the model computes in: a boolean 4-D mask is silently wrong under eager attention.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..tree import ancestry, depths
from .base import Block

Ints = npt.NDArray[np.int64]


def visible(block: Block, lengths: Ints) -> npt.NDArray[np.bool_]:
    """(rows, nodes, entries): committed entries first, then the block itself, starting at each row's own length."""
    rows, width = block.tokens.shape
    reach = int(lengths.max(initial=0)) + width
    seen = np.arange(reach)[None, None, :] < lengths[:, None, None]
    seen = np.broadcast_to(seen, (rows, width, reach)).copy()
    for row, parents in enumerate(block.parents):
        start, nodes = int(lengths[row]), len(parents)
        seen[row, :nodes, start : start + nodes] = ancestry(parents)
        for padding in range(nodes, width):
            seen[row, padding, start + padding] = True
    return seen


def additive(seen: npt.NDArray[np.bool_], dtype: torch.dtype) -> Tensor:
    """(rows, 1, nodes, entries): 0 where seen, the dtype's lowest value elsewhere."""
    mask = torch.full(seen.shape, torch.finfo(dtype).min, dtype=dtype)
    return mask.masked_fill_(torch.from_numpy(seen), 0.0)[:, None]


def positions(block: Block, lengths: Ints) -> Tensor:
    """(rows, nodes): committed length plus depth in the tree."""
    out = np.zeros(block.tokens.shape, np.int64)
    for row, parents in enumerate(block.parents):
        out[row, : len(parents)] = depths(parents)
    return torch.from_numpy(out + lengths[:, None])
