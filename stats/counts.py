"""Counts over a known law, with cells too thin for a chi-square merged. The counts have no say in what is merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MASS_SLACK = 1e-6
"""How far a law may be from mass 1: a float32 softmax read as float64 is, a law with a token missing is further off."""


class Pooled(NamedTuple):
    """What is left after merging: kept cells in their order, the pooled cell last."""

    counts: NDArray[np.int64]
    probs: NDArray[np.float64]


def pool(counts: ArrayLike, probs: ArrayLike, *, floor: float) -> Pooled:
    """Counts and probabilities with every cell expecting fewer than `floor` merged into one.

    If the merged cell itself expects fewer, it takes the smallest other cell in. Cells of probability zero are left
    out; a draw there is proof, not statistics, and raises: ask `support.outside_support` first.

    counts, probs: shape (cells,). Worked example: floor 5, n = 100, probs [.6, .36, .03, .01] -> [.6, .36 + .04].
    """
    observed, law = checked_counts(counts), checked_law(probs)
    if observed.shape != law.shape:
        raise ValueError(f"{observed.size} counts cannot be compared with {law.size} probabilities")
    if observed[law == 0].any():
        token = int(np.flatnonzero((law == 0) & (observed > 0))[0])
        raise ValueError(f"cell {token} has probability 0 and was observed {observed[token]} times; test the support")
    groups = _groups(law, int(observed.sum()), floor)
    inside = law > 0
    return Pooled(
        counts=np.bincount(groups, weights=observed[inside]).astype(np.int64),
        probs=np.bincount(groups, weights=law[inside]).astype(np.float64),
    )


def cells_after_pooling(probs: ArrayLike, n: int, *, floor: float) -> int:
    """How many cells `pool` will leave for `n` draws from `probs`: known before data."""
    return int(_groups(checked_law(probs), n, floor).max()) + 1


def pooled_mass(probs: ArrayLike, n: int, *, floor: float) -> float:
    """The probability of the merged cell, 0 where nothing is merged: differences inside it cannot be seen."""
    law = checked_law(probs)
    groups = _groups(law, n, floor)
    merged = np.bincount(groups)[groups] > 1
    return float(law[law > 0][merged].sum())


def checked_law(probs: ArrayLike) -> NDArray[np.float64]:
    """`probs` as float64, refused unless it is one law: a row of non-negative numbers that sum to 1."""
    law = np.asarray(probs, dtype=np.float64)
    if law.ndim != 1 or not (law >= 0).all() or not abs(law.sum() - 1) <= MASS_SLACK:
        raise ValueError(f"not a law: shape {law.shape}, sum {law.sum()}; give non-negative numbers that sum to 1")
    return law


def checked_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """`counts` as int64, refused unless they are whole and non-negative."""
    given = np.asarray(counts)
    if not (np.isfinite(given) & (given >= 0) & (np.floor(given) == given)).all():
        raise ValueError(f"counts must be whole and non-negative; got {given.tolist()}")
    return given.astype(np.int64)


def _groups(law: NDArray[np.float64], n: int, floor: float) -> NDArray[np.int64]:
    """For each cell of positive probability, the number of the cell it ends in. Depends on the law and `n` only."""
    expected = n * law[law > 0]
    thin = expected < floor
    if thin.any() and not thin.all() and expected[thin].sum() < floor:
        thin[np.argmin(np.where(thin, np.inf, expected))] = True
    kept = int((~thin).sum())
    groups = np.full(expected.size, kept, dtype=np.int64)
    groups[~thin] = np.arange(kept)
    return groups
