"""The laws that samplers are tried on: a target and a draft whose every probability is known, at every history.

Laws look like those of language models, for flat ones hide faults: peaked, near ties, zeros, disjoint supports, a draft
that is too sure of itself, tokens of mass 1e-8. They differ at every position and depend on the tokens before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A target and a draft for one round of K drafted tokens.

    target[i], i = 0..K, and draft[i], i < K, have shape (S**i, V): one law for each state at position i. The state
    after a token is `state * S + token % S`, so S = V remembers the whole history and S = 1 forgets it.
    """

    name: str
    target: tuple[Floats, ...]
    draft: tuple[Floats, ...]

    @property
    def vocabulary(self) -> int:
        """V."""
        return int(self.target[0].shape[1])

    @property
    def draft_length(self) -> int:
        """K."""
        return len(self.draft)

    @property
    def memory(self) -> int:
        """S."""
        return len(self.target[1]) if self.draft else 1

    def joint(self) -> Floats:
        """The law of K + 1 tokens of the target, (V**(K+1),), the last token fastest."""
        states, probs = np.zeros(1, np.int64), np.ones(1)
        for laws in self.target:
            probs = (probs[:, None] * laws[states]).reshape(-1)
            states = (states[:, None] * self.memory + np.arange(self.vocabulary) % self.memory).reshape(-1)
        return probs

    def reached(self, place: int) -> Floats:
        """The chance of each state at position `place` under the target, (S**place,); K + 1 is allowed."""
        chance = np.ones(1)
        for laws in self.target[:place]:
            split = [laws[:, m :: self.memory].sum(axis=1) for m in range(self.memory)]
            chance = (chance[:, None] * np.stack(split, axis=1)).reshape(-1)
        return chance

    def marginal(self, place: int) -> Floats:
        """The law of the target's token at position `place`, (V,), whatever came before."""
        whole: Floats = self.reached(place) @ self.target[place]
        return whole


@dataclass(frozen=True, slots=True)
class Bundle:
    """Problems of one shape that are tried together: each call of the sampler has rows of all of them, mixed."""

    name: str
    problems: tuple[Problem, ...]

    @property
    def vocabulary(self) -> int:
        """V."""
        return self.problems[0].vocabulary

    @property
    def draft_length(self) -> int:
        """K."""
        return self.problems[0].draft_length

    @property
    def memory(self) -> int:
        """S."""
        return self.problems[0].memory


Maker = Callable[[int, np.random.Generator], tuple[Floats, Floats]]
"""A pair of laws (p, q), each (V,), for one state."""


def problem(
    name: str, shape: tuple[int, int, int], rng: np.random.Generator, rows: Sequence[tuple[Floats, Floats]] = ()
) -> Problem:
    """The problem called `name` with V tokens, K drafted and S states a step, every state with laws of its own.

    "recorded" takes one of `rows`, pairs of laws (V,) of a real target and draft, its tokens in another order.
    """
    vocabulary, draft_length, memory = shape
    made = partial(_recorded, rows) if name == "recorded" else MAKERS[name]
    pairs = [[made(vocabulary, rng) for _ in range(memory**place)] for place in range(draft_length + 1)]
    return Problem(
        name=name,
        target=tuple(np.stack([p for p, _ in at]) for at in pairs),
        draft=tuple(np.stack([q for _, q in at]) for at in pairs[:-1]),
    )


def normalised(weights: Floats) -> Floats:
    """`weights` divided by their sum."""
    law: Floats = weights / weights.sum()
    return law


def _zipf(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Language-model-like: mass falls with rank, and the draft agrees with most of it."""
    logits = -1.2 * np.log(1 + rng.permutation(vocabulary))
    return normalised(np.exp(logits)), normalised(np.exp(0.7 * logits + 0.8 * rng.standard_normal(vocabulary)))


def _near_ties(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two tokens lead by a hair, and the draft has them the other way round."""
    first, second = rng.choice(vocabulary, 2, replace=False)
    p, q = np.full(vocabulary, 0.1 / vocabulary), np.full(vocabulary, 0.2 / vocabulary)
    p[first], p[second] = p[first] + 0.451, p[second] + 0.449
    q[first], q[second] = q[first] + 0.3, q[second] + 0.5
    return normalised(p), normalised(q)


def _zeros(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """As after top-k: a third of the tokens, not the same ones, is impossible in each."""
    p, q = _zipf(vocabulary, rng)
    cut = max(1, vocabulary // 3)
    p[rng.choice(vocabulary, cut, replace=False)] = 0
    q[rng.choice(vocabulary, cut, replace=False)] = 0
    return normalised(p), normalised(q)


def _disjoint(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """No token is possible in both: everything is rejected."""
    p, q = _zipf(vocabulary, rng)
    drafted = np.zeros(vocabulary, dtype=bool)
    drafted[rng.choice(vocabulary, max(1, vocabulary // 3), replace=False)] = True
    return normalised(np.where(drafted, 0, p)), normalised(np.where(drafted, q, 0))


def _sure(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The draft is surer than the target: whoever accepts a little too easily shows it here."""
    top = rng.integers(vocabulary)
    p, q = np.full(vocabulary, 0.1 / (vocabulary - 1)), np.full(vocabulary, 0.001 / (vocabulary - 1))
    p[top], q[top] = 0.9, 0.999
    return normalised(p), normalised(q)


def _chosen(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The draft token is chosen, not drawn: q is one-hot, at a token that the target likes half the time."""
    p = _zipf(vocabulary, rng)[0]
    top = int(np.argmax(p))
    p[top] = 0.0
    p = 0.5 * normalised(p)
    p[top] = 0.5
    return p, np.eye(vocabulary)[top]


def _same(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """P = q: everything is accepted, and the last token is always the target's own."""
    p = _zipf(vocabulary, rng)[0]
    return p, p.copy()


def _tiny(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """What the draft likes best has mass 1e-8 under the target: ratios that half precision loses."""
    p, q = _zipf(vocabulary, rng)
    rare = rng.integers(vocabulary)
    p[rare], q[rare] = 0.0, 0.0
    p, q = (1 - 1e-8) * normalised(p), 0.5 * normalised(q)
    p[rare], q[rare] = 1e-8, 0.5
    return p, q


def _greedy(vocabulary: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """T = 0: the target is one-hot, the draft is not."""
    _, q = _zipf(vocabulary, rng)
    return np.eye(vocabulary)[int(rng.choice(vocabulary, p=q))], q


def _recorded(
    rows: Sequence[tuple[Floats, Floats]], vocabulary: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """As a real pair of models has it at some place of an answer."""
    p, q = rows[int(rng.integers(len(rows)))]
    order = rng.permutation(vocabulary)
    return normalised(p[order]), normalised(q[order])


MAKERS: Mapping[str, Maker] = {
    "zipf": _zipf,
    "near-ties": _near_ties,
    "zeros": _zeros,
    "disjoint": _disjoint,
    "sure": _sure,
    "chosen": _chosen,
    "same": _same,
    "tiny": _tiny,
    "greedy": _greedy,
}
