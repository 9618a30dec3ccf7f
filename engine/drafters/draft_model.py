"""A smaller model drafts a chain, token by token (Leviathan et al. 2023; Chen et al. 2023).

Its cache is rolled back to what was accepted, and the tokens it has not seen yet, the last draft token after a full
acceptance and the bonus token always, are fed before it drafts again.

A chain may stop early, behind a token that the model was not sure of (as EAGLE-2's, 2406.16858, and those of
transformers' assisted generation do). That token was drawn and is proposed: whether another is drawn hangs on what was
drawn before it alone, so the law stays. To take the unsure token back would change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..cache.contiguous import ContiguousCache
from ..models.base import Block, CacheFactory, Ints, LanguageModel, Logits
from ..request import Sampling
from ..sampling import draw, next_token_probs, softmax
from ..tree import DraftTree
from .base import Floats, Situation


class Proposed(NamedTuple):
    """Tokens (rows, ...), and the laws (rows, ..., vocabulary) that they were drawn from."""

    tokens: Ints
    laws: Floats


class Chains(NamedTuple):
    """Roots and what was drafted behind them, and how many tokens of each row that is."""

    proposed: Proposed
    lengths: Ints


class DraftModel:
    """Drafts `length` tokens with `model`, drawn from its law under the request's own sampling parameters.

    Fewer, where a token is less probable than `confidence` at temperature 1: it is the last one.
    """

    def __init__(
        self,
        model: LanguageModel,
        length: int,
        new_cache: CacheFactory = ContiguousCache,
        confidence: float = 0.0,
    ) -> None:
        self.model = model
        self.length = length
        self.confidence = confidence
        self._new_cache = new_cache
        self._cache: Cache = new_cache(0)
        self._known = np.zeros(0, np.int64)

    def begin(self, rows: int) -> None:
        """An empty cache."""
        self._cache = self._new_cache(rows)

    def draft(self, situation: Situation) -> list[DraftTree]:
        """A chain a row. Rows with a shorter limit are drafted along with the others and cut.

        Where no row may draft, the model is not asked; what it then lacks is fed before it drafts again.
        """
        contexts = situation.contexts
        self._known = np.array([len(context) for context in contexts])
        depth = min(self.length, max(situation.limits))
        if depth < 1:
            return [DraftTree.bare(context[-1], self.model.vocabulary) for context in contexts]
        self._welcome(contexts[len(self._cache.lengths) :])
        missing = [list(context[seen:]) for context, seen in zip(contexts, self._cache.lengths, strict=True)]
        self._cache.reserve([len(tokens) for tokens in missing])
        logits = self.model.score_last(Block.chains(missing), self._cache)
        self._cache.commit([list(range(1, len(tokens))) for tokens in missing])
        (tokens, laws), lengths = self._chains(logits, depth, situation)
        return DraftTree.chains(tokens, laws, np.minimum(lengths, situation.limits).tolist())

    def _chains(self, logits: Logits, depth: int, situation: Situation) -> Chains:
        """Tokens (rows, depth + 1) and laws (rows, depth + 1, vocabulary), until no row goes on."""
        samplings = [request.sampling for request in situation.requests]
        tokens = np.zeros((len(samplings), depth + 1), np.int64)
        laws = np.zeros((len(samplings), depth + 1, self.model.vocabulary))
        lengths, going = np.zeros(len(samplings), np.int64), np.ones(len(samplings), np.bool_)
        tokens[:, 0] = [context[-1] for context in situation.contexts]
        for place in range(1, depth + 1):
            tokens[:, place], laws[:, place] = self.propose(logits, samplings, situation.chance[:, place - 1])
            lengths += going
            going &= self.sure(logits, tokens[:, place])
            if place == depth or not going.any():
                break
            logits = self.model.score_last(Block.chains(list(tokens[:, place : place + 1])), self._cache)
            self._cache.commit([[]] * len(samplings))
        return Chains(Proposed(tokens, laws), lengths)

    def propose(self, logits: Logits, samplings: Sequence[Sampling], chance: Floats) -> Proposed:
        """One token a row, and the law it was drawn from: the model's own under the request's sampling parameters."""
        laws = next_token_probs(logits[:, None], samplings)[:, 0]
        return Proposed(draw(laws, chance), laws)

    def sure(self, logits: Logits, tokens: Ints) -> npt.NDArray[np.bool_]:
        """(rows,): whether each token, drawn behind these logits, may be followed by another."""
        if not self.confidence:
            return np.ones(len(tokens), np.bool_)
        own = softmax(logits.astype(np.float64))[np.arange(len(tokens)), tokens]
        return np.asarray(own >= self.confidence)

    def observe(self, accepted: Sequence[int]) -> None:
        """Rolls back to the context and the accepted drafts; the last draft token was never fed."""
        held = len(self._cache.lengths)
        self._cache.rewind(np.minimum(self._cache.lengths, (self._known + np.asarray(accepted))[:held]))

    def select(self, rows: Sequence[int]) -> None:
        """Keeps these rows; those that joined since the last draft have no entries yet."""
        held = len(self._cache.lengths)
        self._cache.select([row for row in rows if row < held])

    def join(self, rows: int) -> None:
        """Rows behind those that the cache holds are new: they are fed when the model drafts for them first."""
        del rows

    def _welcome(self, contexts: Sequence[Sequence[int]]) -> None:
        """Feeds rows that joined all but their last token, each alone, so that no other row is padded to it."""
        for context in contexts:
            fresh = self._new_cache(1)
            if len(context) > 1:
                self.model.score_last(Block.chains([context[:-1]]), fresh)
                fresh.commit([list(range(1, len(context) - 1))])
            self._cache.append(fresh)
