"""From logits to the law of the next token, and from a law to a token. The one place where filters are applied.

Laws are float64 arrays whose last axis is the vocabulary. Order: temperature, top-k, top-p, min-p, each on what the one
before left (the order of transformers' `generate`). Ties at the edge of top-k are all kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .errors import LogitsNotFinite
from .request import Sampling

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def next_token_probs(logits: npt.NDArray[np.floating], samplings: Sequence[Sampling]) -> Floats:
    """The law of the next token, shape (rows, positions, vocabulary), for logits of that shape and one Sampling a row.

    Greedy rows are one-hot on the first of the largest logits. Raises LogitsNotFinite for NaN, +inf, or a row that
    rules out every token.
    """
    best = logits.max(axis=-1)
    if not np.isfinite(best).all():
        row, position = np.argwhere(~np.isfinite(best))[0]
        raise LogitsNotFinite(
            f"the model's logits are not finite (row {row}, position {position}: largest is {best[row, position]}); "
            "check its weights and dtype"
        )
    kinds = set({id(sampling): sampling for sampling in samplings}.values())  # a batch mostly shares one object
    if len(kinds) == 1:
        return _law(logits, *kinds)
    probs = np.empty(logits.shape, np.float64)
    for sampling in kinds:
        rows = [row for row, other in enumerate(samplings) if other == sampling]
        probs[rows] = _law(logits[rows], sampling)
    return probs


def _law(logits: npt.NDArray[np.floating], sampling: Sampling) -> Floats:
    if sampling.temperature == 0:
        return one_hot(logits.argmax(axis=-1), logits.shape[-1])
    probs = normalised(np.exp(_heated(logits.astype(np.float64), sampling.temperature)))
    if 0 < sampling.top_k < probs.shape[-1]:
        least = np.partition(probs, -sampling.top_k, axis=-1)[..., -sampling.top_k, None]
        probs = normalised(np.where(probs >= least, probs, 0.0))
    if sampling.top_p < 1:
        probs = normalised(np.where(_nucleus(probs, sampling.top_p), probs, 0.0))
    if sampling.min_p > 0:
        probs = normalised(np.where(probs >= sampling.min_p * probs.max(axis=-1, keepdims=True), probs, 0.0))
    return probs


def _heated(logits: Floats, temperature: float) -> Floats:
    """Distances below the largest logit, divided by `temperature`; -inf where that is too small for a float64."""
    with np.errstate(over="ignore"):
        distances: Floats = (logits - logits.max(axis=-1, keepdims=True)) / temperature
    return distances


def softmax(logits: Floats) -> Floats:
    """exp(logits) / sum, computed from the largest down so that nothing overflows."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return normalised(weights)


def normalised(weights: Floats) -> Floats:
    """`weights / weights.sum()` along the last axis. Raises ZeroDivisionError where a row has no mass.

    Also takes object arrays of Fractions, so that the walk can be enumerated exactly.
    """
    total = weights.sum(axis=-1, keepdims=True)
    if not (total > 0).all():
        raise ZeroDivisionError("a law without mass cannot be normalised: is q larger than p everywhere?")
    law: Floats = weights / total
    return law


def one_hot(tokens: Ints, vocabulary: int) -> Floats:
    """Point masses, shape (*tokens.shape, vocabulary)."""
    probs = np.zeros((tokens.size, vocabulary))
    probs[np.arange(tokens.size), tokens.ravel()] = 1.0
    return probs.reshape(*tokens.shape, vocabulary)


def draw(probs: Floats, uniforms: Floats | float) -> Ints:
    """Tokens with law `probs` (..., vocabulary) from uniforms (...): the first whose running sum exceeds u * mass.

    Never returns a token of probability zero.
    """
    running = probs.cumsum(axis=-1)
    mass = running[..., -1]
    aim = np.minimum(np.multiply(uniforms, mass), np.nextafter(mass, 0.0))
    tokens: Ints = (running <= aim[..., None]).sum(axis=-1) if aim.ndim else running.searchsorted(aim, side="right")
    return tokens


def in_support(logits: Floats, token: int, sampling: Sampling, slack: float) -> bool:
    """Whether `token` may be emitted after `logits` (vocabulary,), the filters' edges moved outwards by `slack`.

    `slack` is how far a gap between two logits may be off, so that a rounding error at an edge is not a fault: the odds
    of the mass ahead of a token then move by at most exp(slack / temperature).
    """
    if sampling.temperature == 0:
        return bool(logits[token] >= logits.max() - slack)
    ahead = logits > logits[token] + slack
    if 0 < sampling.top_k <= ahead.sum():
        return False
    kept = _law(logits[None], Sampling(temperature=sampling.temperature, top_k=sampling.top_k))[0]
    if sampling.top_p < 1 and kept[ahead].sum() >= _moved(sampling.top_p, slack / sampling.temperature):
        return False
    behind = -_heated(logits, sampling.temperature)[token]
    return sampling.min_p == 0 or bool(behind <= -np.log(sampling.min_p) + slack)


def _moved(share: float, log_odds: float) -> float:
    """The share of mass whose odds are those of `share` times exp(log_odds)."""
    rest = 1 - share
    return float(share - share * rest * np.expm1(-log_odds) / (share + rest * np.exp(-log_odds)))


def _nucleus(probs: Floats, top_p: float) -> npt.NDArray[np.bool_]:
    """The smallest set of most probable tokens whose mass reaches `top_p`; the first token of a tie comes first."""
    ordered = -np.sort(-probs, axis=-1)  # values alone: ten times faster than their order
    count = (ordered.cumsum(axis=-1) - ordered < top_p).sum(axis=-1, keepdims=True)
    least = np.take_along_axis(ordered, count - 1, axis=-1)
    kept: npt.NDArray[np.bool_] = probs > least
    tied = probs == least
    room = count - kept.sum(axis=-1, keepdims=True)
    kept |= tied & (tied.cumsum(axis=-1) <= room)
    return kept
