"""What is true of every lossless sampler, whatever its rule; each is a wager on a few rounds of given laws.

`relabelling`: other names for the tokens, the same law. `empty`: without drafts it is plain decoding. `alone`: a row by
itself, one a call, has the law that it has in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...stats.strategies import Chain
from .drafting import Settings
from .interface import Pair, Sampler
from .minimal import Minimal, refuted

Invariant = Callable[[Sampler | Pair, Chain, Callable[[int], Settings]], tuple[float, Minimal]]
"""(sampler, laws, settings for so many rows a call) -> the log of a wager's wealth, what came out most wrongly."""

ROUNDS, ALONE = 4096, 512


def relabelling(sampler: Sampler | Pair, laws: Chain, settings: Callable[[int], Settings]) -> tuple[float, Minimal]:
    """The last token is called the first, and so on: a sampler that prefers small ids shows it here."""
    turned = Chain(*(tuple(tuple(reversed(law)) for law in several) for several in laws))
    return refuted(sampler, turned, settings(ROUNDS), ROUNDS)


def empty(sampler: Sampler | Pair, laws: Chain, settings: Callable[[int], Settings]) -> tuple[float, Minimal]:
    """K = 0: one token, from the target's first law."""
    return refuted(sampler, Chain(laws.target[:1], ()), settings(ROUNDS), ROUNDS)


def alone(sampler: Sampler | Pair, laws: Chain, settings: Callable[[int], Settings]) -> tuple[float, Minimal]:
    """B = 1, many times."""
    return refuted(sampler, laws, settings(1), ALONE)


INVARIANTS: Mapping[str, Invariant] = {"relabelling": relabelling, "empty": empty, "alone": alone}
