"""Where two sequences part. Knows nothing about what is in them."""

from __future__ import annotations

from collections.abc import Sequence


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items both begin with: the first place where they differ, or where the shorter one ends.

    >>> shared_length((5, 6, 7), (5, 6, 8, 9))
    2
    """
    both = enumerate(zip(one, other, strict=False))  # of two lengths, the shorter one ends what is shared
    return next((place for place, (a, b) in both if a != b), min(len(one), len(other)))
