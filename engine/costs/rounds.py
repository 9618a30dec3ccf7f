"""What a round costs beside a step of plain decoding: the parts of both, timed in turn behind the same text.

Every round is one whose drafts are all rejected, so that both stand behind the same committed tokens. What a round
costs does not depend on how many it keeps, but for one token more that a draft model is fed after it kept all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..cache.base import Cache
from ..cache.contiguous import ContiguousCache
from ..decoding.prefill import prefill, seeds
from ..drafters.base import Drafter, Floats, Situation
from ..models.base import Block, CacheFactory, LanguageModel
from ..randomness import CounterRandomness, Purpose, Randomness
from ..request import Request
from ..sampling import draw, next_token_probs
from ..tree import DraftTree
from ..verification.base import RowChance, Verifier
from ..verification.lossless import Lossless
from .measuring import clock
from .spent import Spent


class Behind(NamedTuple):
    """Where all parts of a turn stand: the requests, all committed tokens of each, and how many turns were before."""

    requests: Sequence[Request]
    texts: Sequence[Sequence[int]]
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that a speculative decoder is made of, by the names they have there."""

    model: LanguageModel
    drafter: Drafter
    verifier: Verifier = Lossless()
    new_cache: CacheFactory = ContiguousCache
    randomness: Randomness = CounterRandomness()

    def spend(self, requests: Sequence[Request], answers: Sequence[Sequence[int]], turns: int) -> list[Spent]:
        """The costs of `turns` rounds and as many plain steps, behind texts that grow by a token of each answer a turn.

        The first of them is what both prefills cost: `step` and `verify` that of the target, `draft` that of a draft
        behind a prompt which the drafter has not seen. An answer that is too short begins again.
        """
        now, cache = clock(), self.new_cache(len(requests))
        started = now()
        prefill(self.model, cache, requests)
        first = now() - started
        self.drafter.begin(len(requests))
        spent = [self._turn(self._behind(requests, answers, turn), cache, now) for turn in range(turns + 1)]
        return [spent[0]._replace(step=first, verify=first), *spent[1:]]

    def _behind(self, requests: Sequence[Request], answers: Sequence[Sequence[int]], turn: int) -> Behind:
        said = [[answer[place % len(answer)] for place in range(turn + 1)] for answer in answers]
        return Behind(requests, [[*one.prompt, *more] for one, more in zip(requests, said, strict=True)], turn)

    def _turn(self, at: Behind, cache: Cache, now: Callable[[], float]) -> Spent:
        times = [now()]
        trees = self.drafter.draft(self._situation(at))
        self.drafter.observe([0] * len(trees))
        times.append(now())
        self._step(at, cache)
        times.append(now())
        self._verify(at, trees, cache)
        times.append(now())
        cache.commit([[]] * len(trees))
        draft, step, verify = map(float, np.diff(times))
        return Spent(step, draft, verify, float(np.mean([tree.drafted for tree in trees])))

    def _step(self, at: Behind, cache: Cache) -> None:
        """As plain decoding does it: one token a row, and the next drawn."""
        chance = self._uniforms(at, Purpose.PLAIN, 1)[:, 0]
        logits = self.model.score(Block.chains([text[-1:] for text in at.texts]), cache)
        draw(next_token_probs(logits, [request.sampling for request in at.requests])[:, 0], chance)

    def _verify(self, at: Behind, trees: Sequence[DraftTree], cache: Cache) -> None:
        block = Block.of([tree.tokens for tree in trees], [tree.parents for tree in trees])
        laws = next_token_probs(self.model.score(block, cache), [request.sampling for request in at.requests])
        probs = [law[: len(tree.parents)] for law, tree in zip(laws, trees, strict=True)]
        accept = self._uniforms(at, Purpose.ACCEPT, block.tokens.shape[1])
        last = self._uniforms(at, Purpose.LAST, 1)[:, 0]
        chance = [RowChance(row, float(final)) for row, final in zip(accept, last, strict=True)]
        self.verifier.verify(trees, probs, chance)

    def _situation(self, at: Behind) -> Situation:
        rows = len(at.requests)
        return Situation(
            requests=at.requests,
            contexts=at.texts,
            limits=[self.drafter.length] * rows,
            chance=self._uniforms(at, Purpose.DRAFT, max(self.drafter.length, 1)),
            rounds=[at.turn] * rows,
        )

    def _uniforms(self, at: Behind, purpose: Purpose, slots: int) -> Floats:
        return self.randomness.uniforms(seeds(at.requests), np.full(len(at.requests), at.turn), purpose, slots)
