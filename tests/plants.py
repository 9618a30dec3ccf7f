"""Faults that live in the tests only: each is a strategy, or an arm, handed over at construction."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.cache.contiguous import ContiguousCache
from draftgate.engine.decoding.answer import Answer
from draftgate.engine.drafters.draft_model import DraftModel, Proposed
from draftgate.engine.randomness import CounterRandomness, Purpose
from draftgate.engine.request import Arrival, Sampling
from draftgate.engine.sampling import draw, next_token_probs, normalised
from draftgate.engine.tree import ROOT, DraftTree
from draftgate.engine.verification.base import Accepted, Guarantee
from draftgate.engine.verification.lossless import Lossless


class Walk:
    """The lossless walk with its two decisions exposed, to be spoiled one at a time."""

    guarantee = Guarantee.SAME_LAW

    def verify(self, trees: Any, probs: Any, chances: Any) -> list[Accepted]:
        return [self.walk(*row) for row in zip(trees, probs, chances, strict=True)]

    def walk(self, tree: Any, probs: Any, rng: Any) -> Accepted:
        path: list[int] = []
        p, waiting = probs[ROOT], deque(tree.children(ROOT))
        while waiting:
            child = waiting.popleft()
            token, q = tree.tokens[child], tree.probs[child]
            if self.keeps(child, rng.uniform(child), q[token], p[token]):
                path, p, waiting = [*path, child], probs[child], deque(tree.children(child))
            else:
                p = self.residual(p, q)
        return Accepted(path, rng.draw(self.last(tree, probs, path, p)))

    def keeps(self, child: int, u: float, q: float, p: float) -> bool:
        return u * q < p

    def residual(self, p: Any, q: Any) -> Any:
        return normalised((p - q).clip(min=0))

    def last(self, tree: Any, probs: Any, path: Sequence[int], p: Any) -> Any:
        return p


class ResidualOfPAt(Walk):
    """After a rejection the last token is drawn from p itself (F06), but only where exactly `at` rows are decoded."""

    def __init__(self, at: int) -> None:
        self.at, self.rows = at, 0

    def verify(self, trees: Any, probs: Any, chances: Any) -> list[Accepted]:
        self.rows = len(trees)
        return super().verify(trees, probs, chances)

    def residual(self, p: Any, q: Any) -> Any:
        return p if self.rows == self.at else super().residual(p, q)


class KeepsFirstUnseen(Walk):
    """The first draft token is accepted without a look (F16)."""

    def keeps(self, child, u, q, p):
        return child == 1 or u * q < p


class BonusFromTheRowBefore(Walk):
    """After a full acceptance the last token is drawn from the row before (F17)."""

    def last(self, tree, probs, path, p):
        return probs[path[-1] - 1] if path and len(path) == tree.drafted else p


class ResidualOfDistances(Walk):
    """The residual is not clipped: what q has too much counts as if p had it."""

    def residual(self, p, q):
        return normalised(np.abs(p - q))


class Scaled(Walk):
    """Acceptance is too kind or too strict by a factor."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def keeps(self, child, u, q, p):
        return u * q < self.factor * p


class KeepsTheLikeliest(Walk):
    """A draft is kept where it is the target's likeliest token, whatever chance says."""

    def walk(self, tree, probs, rng):
        path, p, waiting = [], probs[ROOT], deque(tree.children(ROOT))
        while waiting:
            child = waiting.popleft()
            if p[tree.tokens[child]] < p.max():
                p = self.residual(p, tree.probs[child]) if (p > tree.probs[child]).any() else p
                break
            path, p, waiting = [*path, child], probs[child], deque(tree.children(child))
        return Accepted(path, rng.draw(p))


class NeighboursLast:
    """The last token of a row is its neighbour's."""

    guarantee = Guarantee.SAME_LAW

    def verify(self, trees, probs, chances):
        found = Lossless().verify(trees, probs, chances)
        return [Accepted(one.path, other.last) for one, other in zip(found, found[1:] + found[:1], strict=True)]


class Chance:
    """The engine's own uniforms, changed on their way."""

    def __init__(self, change: Callable[..., Any]) -> None:
        self._change, self._inner = change, CounterRandomness()

    def uniforms(self, seeds, rounds, purpose, slots):
        return self._change(self._inner.uniforms, seeds, rounds, purpose, slots)


def never_random(given, seeds, rounds, purpose, slots):
    """Every uniform that decides an acceptance is 0."""
    found = given(seeds, rounds, purpose, slots)
    return np.zeros_like(found) if purpose is Purpose.ACCEPT else found


def one_for_all_positions(given, seeds, rounds, purpose, slots):
    """One uniform decides every acceptance of a round."""
    found = given(seeds, rounds, purpose, slots)
    return np.repeat(found[:, :1], slots, axis=1) if purpose is Purpose.ACCEPT else found


def draft_uniforms_again(given, seeds, rounds, purpose, slots):
    """The uniform that drew a draft token decides its acceptance, too."""
    if purpose is not Purpose.ACCEPT:
        return given(seeds, rounds, purpose, slots)
    return np.concatenate([np.zeros((len(seeds), 1)), given(seeds, rounds, Purpose.DRAFT, max(slots - 1, 1))], axis=1)


def accept_uniform_again(given, seeds, rounds, purpose, slots):
    """The uniform of the first acceptance draws the last token, too."""
    if purpose is not Purpose.LAST or not rounds.all():
        return given(seeds, rounds, purpose, slots)
    return given(seeds, rounds, Purpose.ACCEPT, 2)[:, 1:]


def one_seed_for_all_rows(given, seeds, rounds, purpose, slots):
    """All rows of a batch share the first row's seed."""
    return given(np.full_like(seeds, seeds[0]), rounds, purpose, slots)


def every_round_alike(given, seeds, rounds, purpose, slots):
    """Every round draws the uniforms of the first one."""
    return given(seeds, np.minimum(rounds, 1), purpose, slots)


class RollsBackTooFar(ContiguousCache):
    """After a rejection one entry too many is forgotten (F44)."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self._nodes, self._prefilled = 0, False

    def write(self, layer, keys, values):
        self._nodes = keys.shape[2]
        return super().write(layer, keys, values)

    def commit(self, paths):
        super().commit(paths)
        if self._prefilled:
            self.lengths -= np.array([len(path) + 1 < self._nodes for path in paths], np.int64)
        self._prefilled = True


class NeverRollsBack(ContiguousCache):
    """Everything that was scored stays."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self._nodes, self._prefilled = 0, False

    def write(self, layer, keys, values):
        self._nodes = keys.shape[2]
        return super().write(layer, keys, values)

    def commit(self, paths):
        whole = [list(range(1, self._nodes))] * len(paths) if self._prefilled else paths
        super().commit(whole)
        self._prefilled = True


class ClaimsUnfiltered(DraftModel):
    """Tokens are drawn from the filtered law, q is said to be the unfiltered one (F02)."""

    def propose(self, logits, samplings, chance):
        flat = [Sampling(temperature=s.temperature) for s in samplings]
        return super().propose(logits, samplings, chance)._replace(laws=next_token_probs(logits[:, None], flat)[:, 0])


class DrawsNothing(DraftModel):
    """The likeliest token is proposed, q is said to be the law it might have been drawn from (F03)."""

    def propose(self, logits, samplings, chance):
        laws = super().propose(logits, samplings, chance).laws
        return Proposed(laws.argmax(axis=-1), laws)


class DropsWeakDrafts(DraftModel):
    """The guilty twin of shorter drafts: the chain ends before the first token that looks weak once it was drawn."""

    def draft(self, situation):
        return [self._cut(tree) for tree in super().draft(situation)]

    def _cut(self, tree):
        q = tree.probs[np.arange(1, len(tree.tokens)), tree.tokens[1:]]
        kept = int(np.argmax(np.append(q, 0.0) < 0.5))
        if kept == 0:
            return DraftTree.bare(int(tree.tokens[ROOT]), tree.probs.shape[1])
        return DraftTree.chain(int(tree.tokens[ROOT]), tree.tokens[1 : kept + 1], tree.probs[1 : kept + 1])


class ClaimsAnotherTemperature(DraftModel):
    """Tokens are drawn at half the temperature, q is said to be the request's."""

    def propose(self, logits, samplings, chance):
        tokens = draw(next_token_probs(2 * logits[:, None], samplings)[:, 0], chance)
        return super().propose(logits, samplings, chance)._replace(tokens=tokens)


def drafting_with(drafts: type[DraftModel]) -> type[ReferenceTarget]:
    """An arm whose draft model is used by another drafter."""

    class Arm(ReferenceTarget):
        __slots__ = ()

        def drafter(self):
            return drafts(self.draft, self.draft_length)

    return Arm


class LateAnswer(Answer):
    """The end is looked for behind the last token of a block only (F37)."""

    def _take(self, tokens):
        self.tokens.extend(int(token) for token in tokens)
        self.finish = self._ended(int(tokens[-1]))
        emitted = len(tokens)
        if len(self.tokens) > self.request.max_tokens:
            emitted -= len(self.tokens) - self.request.max_tokens
            del self.tokens[self.request.max_tokens :]
        self._arrivals.append(Arrival(0.0 if not self._arrivals else self._arrivals[-1].seconds + 1e-3, emitted))
        if self.finish is None and len(self.tokens) == self.request.max_tokens:
            self.finish = "length"
        return emitted


def strategies(**parts: Any) -> Strategies:
    """The engine's own strategies but for these."""
    return Strategies(**parts)
