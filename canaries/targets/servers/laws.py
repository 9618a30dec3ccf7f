"""A token's place in a law of which a server tells the best tokens only.

What is not listed has the rest of the mass, and no token of it is likelier than the last one listed. Where that decides
what the filters keep, the law is exact; where it does not, it is not guessed. Whether it does depends on the list alone
and never on which token was drawn, so that leaving out what is not decided favours no token.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....engine.request import Sampling
from ....engine.sampling import in_support, next_token_probs
from ...contracts import Replay
from .asking import TokenLogprob
from .errors import Lacking

Floats = npt.NDArray[np.float64]
VOCABULARY = 2**18  # no model has more tokens; only an upper bound is needed
LEAST = 2  # tokens that tell a gap
BEHIND = 8  # told behind those that decide: an emitted one among them has a margin of its own
ROUNDING = 1e-6  # of told logprobs: a mass that has room for one token less this much has room for it
FAR = 1e3  # logits behind the last one listed: a token that no filter keeps, if they cut anything off
NEGLIGIBLE = 1e-4  # share of weight that hidden tokens may have where nothing is cut off: it moves no effect of a suite


class Listed(NamedTuple):
    """The best tokens, by id, and their natural log probabilities; both of shape (listed,)."""

    ids: npt.NDArray[np.int64]
    logprobs: Floats


def numbered(told: TokenLogprob) -> TokenLogprob:
    """The same with numbers for tokens that are named by their text: in the order of the texts, unlisted ones last."""
    if not any(isinstance(key, str) for key in told.best):
        return told
    texts = sorted(map(str, told.best))
    place = texts.index(str(told.token)) if str(told.token) in texts else len(texts)
    return TokenLogprob(place, told.logprob, {i: told.best[text] for i, text in enumerate(texts)})


def listed(best: Mapping[int, float], most: int, where: str) -> Listed:
    """The `most` best of what is told. Raises Lacking for fewer than two, which tell of no gap."""
    kept = sorted(heapq.nlargest(most, best.items(), key=lambda item: (item[1], -item[0])))
    if len(kept) < LEAST:
        raise Lacking(where, f"{len(kept)} of {most} logprobs at a token", "raise what the server may tell at once")
    return Listed(np.array([token for token, _ in kept], np.int64), np.array([value for _, value in kept], np.float64))


def deciding(sampling: Sampling) -> int:
    """How many of the best tokens decide what the filters keep, whatever the law is, and a few behind them."""
    if sampling.temperature == 0:
        return LEAST + BEHIND
    return (sampling.top_k or VOCABULARY) + BEHIND


def law(best: Listed, sampling: Sampling) -> Floats | None:
    """The law of the listed tokens (listed,) under the filters; None where hidden ones leave it open."""
    found: Floats = next_token_probs(best.logprobs[None, None], [sampling])[0, 0]
    return found if _decided(np.sort(best.logprobs)[::-1], sampling) else None


def _decided(logprobs: Floats, sampling: Sampling) -> bool:
    """Whether tokens behind `logprobs` (listed,), the best first, change nothing of what the filters keep."""
    if sampling.temperature == 0:
        return True
    weights = np.exp((logprobs - logprobs[0]) / sampling.temperature)
    if 0 < sampling.top_k <= len(logprobs):  # what ties with the last one kept is kept as well
        beyond = logprobs[sampling.top_k - 1] == logprobs[-1]
        return not beyond or bool(_tied(logprobs) * weights[-1] <= NEGLIGIBLE * weights.sum())
    hidden = _hidden(logprobs, sampling.temperature)
    if hidden <= NEGLIGIBLE * weights.sum():
        return True
    if sampling.top_p == 1:
        return bool(weights[-1] < sampling.min_p)  # the last one listed is cut off, and so is all behind it
    running = weights.cumsum()
    least, most = (sampling.top_p * total for total in (running[-1], running[-1] + hidden))
    counts = [int((running - weights < aim).sum()) for aim in (least, most)]
    return counts[0] == counts[1] and bool(running[-1] >= most)


def _tied(logprobs: Floats) -> int:
    """How many hidden tokens can be as likely as the last one listed: as many as the mass that is left has room for."""
    return int(_left(logprobs) / math.exp(logprobs[-1]) + ROUNDING)


def _left(logprobs: Floats) -> float:
    """The mass of all that is not listed."""
    return max(0.0, 1.0 - math.fsum(np.exp(logprobs)))


def _hidden(logprobs: Floats, temperature: float) -> float:
    """The most weight that hidden tokens can have at this temperature, the best token's being 1.

    A mass spread over many weighs most above T = 1; below it, concentrated on as few as the last listed one allows.
    """
    mass = _left(logprobs)
    last = math.exp(logprobs[-1])
    many = VOCABULARY if temperature >= 1 else mass / last
    if mass == 0 or many == 0:
        return 0.0
    return float(many * math.exp((math.log(mass / many) - logprobs[0]) / temperature))


def placed(told: TokenLogprob, sampling: Sampling, slack: float, most: int, where: str) -> Replay:
    """What the law says of one emitted token: a Replay of one entry a field.

    A token that is not listed is at least as far from the best as the last one listed.
    """
    told = numbered(told)
    best, token = listed(told.best, most, where), int(told.token)
    own = told.logprob if math.isfinite(told.logprob) else float(best.logprobs.min())
    top = np.sort(best.logprobs)[::-1]
    found = law(best, sampling)
    margin, gap = float(top[0]) - min(own, float(top[0])), float(top[0] - top[1])
    if found is None:
        return Replay((margin,), (gap,), (math.nan,), (math.nan,), (0,))
    there = best.ids == token
    ahead = (best.logprobs > own) | ((best.logprobs == own) & (best.ids < token))
    prob, below = float(found[there].sum()), float(found[ahead & ~there].sum())
    logits = best.logprobs if there.any() else np.append(best.logprobs, min(own, float(top[-1])))
    place = int(there.argmax()) if there.any() else len(logits) - 1
    mark = _outside(logits, place, best.logprobs, sampling, slack)
    return Replay((margin,), (gap,), (below,), (prob,), (0 if prob > 0 and mark == 1 else mark,))


def _outside(logits: Floats, place: int, told: Floats, sampling: Sampling, slack: float) -> float:
    """1 where the token is outside of what the filters keep, whatever is hidden behind `told` (listed,); 0 where not.

    NaN where fewer are told than the filters keep, whichever token it is: one that is not listed may be kept or not.
    """
    certain = replace(sampling, top_p=_at_most(np.sort(told)[::-1], sampling))
    cut = sampling.temperature == 0 or sampling.top_k > 0 or sampling.top_p < 1 or sampling.min_p > 0
    if cut and in_support(np.append(told, told.min() - FAR), len(told), certain, slack):
        return math.nan
    return int(not in_support(logits, place, certain, slack))


def _at_most(logprobs: Floats, sampling: Sampling) -> float:
    """The top-p that the listed tokens alone must be held to: hidden ones may lie behind, and take a share of it."""
    if sampling.top_p == 1 or sampling.temperature == 0 or 0 < sampling.top_k <= len(logprobs):
        return sampling.top_p
    weights = np.exp((logprobs - logprobs[0]) / sampling.temperature)
    return min(1.0, float(sampling.top_p * (1 + _hidden(logprobs, sampling.temperature) / weights.sum())))
