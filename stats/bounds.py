"""What no lossless decoder can exceed. An observed acceptance above such a bound is a fault or a miscount.

Tables of laws are those of `acceptance.chain_law`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .exact import Text

    Table = NDArray[Any]


def accepted_bound(target: Sequence[Table], draft: Sequence[Table]) -> Any:
    """The most tokens of a drawn single path that any lossless verifier accepts on average.

    `sum_i sum_x min(P_i(x), Q_i(x))`, P_i and Q_i the joint laws of the first i tokens; the same number as
    `sum_i E_Q[min(1, prod_{j<=i} p_j / q_j)]`. Proof: emitted and drafted text are a coupling of P_i and Q_i, and two
    coupled texts agree with chance at most `1 - TV(P_i, Q_i)`. Block verification (2403.10444) comes closer to it than
    the token rule and may stay below.
    """
    joint_p: Table = np.asarray(1)
    joint_q: Table = np.asarray(1)
    most: Any = 0
    for p, q in zip(target, draft, strict=True):
        joint_p, joint_q = joint_p[..., None] * p, joint_q[..., None] * q
        most = most + np.minimum(joint_p, joint_q).sum()
    return most


def contained_bound(target: Mapping[Text, Fraction], contained: Mapping[Text, Fraction]) -> Fraction:
    """The most tokens of any draft, tree or chain, that any lossless verifier accepts on average.

    `sum over texts of min(P(text), chance that the draft holds text)`: a text can only be accepted where it is both
    drafted and emitted. Holds whatever the draft depends on. For a drawn chain it is `accepted_bound`, for a chosen
    tree the sum of P over its nodes, for k drawn siblings `sum_x min(p(x), 1 - (1 - q(x))**k)`.
    """
    none = Fraction(0)
    return sum((min(target.get(text, none), chance) for text, chance in contained.items()), none)


def expected_tokens(a: float, k: int) -> float:
    """Tokens a round emits when each of `k` drafts is accepted with chance `a`: `(1 - a**(k+1)) / (1 - a)`.

    Written as the sum it stands for, so that `a == 1` gives `k + 1`. Leviathan et al. 2023 (2211.17192), equation 1.
    """
    if not 0 <= a <= 1 or k < 0:
        raise ValueError(f"acceptance {a} must lie in [0, 1] and draft length {k} must not be negative")
    return math.fsum(a**i for i in range(k + 1))
