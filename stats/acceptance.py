"""How much of a draft the token rule and block verification accept, from the two laws alone.

Laws of a chain are tables: `target[i]` has shape (V,) * (i + 1), and `target[i][history]` is the law of token i after
the tuple `history` of the i tokens before it. `draft` has the same shapes. Arrays of Fractions give exact answers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Table = NDArray[Any]


def expected_acceptance(p: Table, q: Table) -> Any:
    """The chance that a token drawn from `q` is accepted: `sum(min(p, q)) == 1 - TV(p, q)`.

    Leviathan et al. 2023 (2211.17192), corollary 3.6; Chen et al. 2023 (2302.01318).
    """
    if p.shape != q.shape:
        raise ValueError(f"laws over different vocabularies cannot be compared: shapes {p.shape} and {q.shape}")
    return np.minimum(p, q).sum()


def chain_law(target: Sequence[Table], draft: Sequence[Table]) -> Table:
    """The law of the number of accepted tokens of a chain under the token rule: shape (K + 1,).

    A chain gets past token i with tokens x with chance `prod(min(p_j(x_j), q_j(x_j)) for j <= i)`; the law is the
    difference of neighbouring sums of that.
    """
    reached: Table = np.asarray(1)
    past = [np.asarray(1)]
    for p, q in zip(target, draft, strict=True):
        reached = reached[..., None] * np.minimum(p, q)
        past.append(reached.sum())
    return np.array([*(here - there for here, there in pairwise(past)), past[-1]])


def block_law(target: Sequence[Table], draft: Sequence[Table]) -> Table:
    """The law of the number of accepted tokens of a drawn chain under block verification: shape (K + 1,).

    Sun et al. 2024 (2403.10444): a chain gets past token i with chance `w_i`, its weight. Times the chance to be drawn,
    that is `min(drawn, before * p)`, where the token rule has the product of `min(p, q)`: never less.
    """
    reached: Table = np.asarray(1)
    drawn: Table = np.asarray(1)
    past = [np.asarray(1)]
    for p, q in zip(target, draft, strict=True):
        drawn = drawn[..., None] * q
        reached = np.minimum(drawn, reached[..., None] * p)
        past.append(reached.sum())
    return np.array([*(here - there for here, there in pairwise(past)), past[-1]])


def mean_accepted(law: Table) -> Any:
    """The expected number of accepted tokens, from `chain_law` or `block_law`."""
    return (np.arange(law.size) * law).sum()
