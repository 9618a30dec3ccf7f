"""The law of one round under a known rule: which tokens it emits and where it ends, for drafts drawn from q.

`token` and `multi-draft` are the walk of modified rejection sampling (Leviathan et al. 2023; SpecInfer), `block` is
that of Sun et al. (2403.10444). Enumerated over all drafts in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from .laws import Floats, Problem

RULES = ("token", "block", "multi-draft")
Text = tuple[int, ...]


class Shape(NamedTuple):
    """The parents of a draft tree, and whether siblings are drawn without replacement; no parents for a chain."""

    parents: tuple[int, ...] = ()
    distinct: bool = False


def rounds_law(problem: Problem, rule: str, shape: Shape) -> Floats:
    """((V + 1)**(K + 1),): the chance of each round, written in base V + 1 with V for the end."""
    v, steps = problem.vocabulary, problem.draft_length + 1
    law = np.zeros((v + 1) ** steps)
    if rule == "block":
        rounds = _block(problem)
    else:
        parents = shape.parents or tuple(range(-1, problem.draft_length))
        rounds = _walk(problem, Shape(parents, shape.distinct), 0, 0, 0)
    for text, mass in rounds:
        padded = [*text, *[v] * (steps - len(text))]
        law[int(np.dot(padded, (v + 1) ** np.arange(steps - 1, -1, -1)))] += mass
    whole: Floats = law / law.sum()
    return whole


def _walk(problem: Problem, shape: Shape, node: int, depth: int, state: int) -> Iterator[tuple[Text, float]]:
    """Every way a walk goes on below `node`, with its chance."""
    children = [n for n, parent in enumerate(shape.parents) if parent == node and n]
    p = problem.target[depth][state]
    if not children:
        yield from (((token,), float(mass)) for token, mass in enumerate(p) if mass)
        return
    for mass, tokens, laws in _siblings(problem.draft[depth][state], len(children), distinct=shape.distinct):
        left, alive = p, mass
        for child, token, q in zip(children, tokens, laws, strict=True):
            chance = min(1.0, float(left[token] / q[token]))
            if alive * chance:
                below = state * problem.memory + token % problem.memory
                for text, more in _walk(problem, shape, child, depth + 1, below):
                    yield (token, *text), alive * chance * more
            alive *= 1 - chance
            rest = np.clip(left - q, 0, None)
            left = rest / rest.sum() if rest.sum() > 0 else left
        yield from (((token,), alive * float(x)) for token, x in enumerate(left) if x and alive)


def _siblings(q: Floats, number: int, *, distinct: bool) -> Iterator[tuple[float, Text, list[Floats]]]:
    """All draws of `number` siblings, each with its chance and the law that each sibling states."""
    for tokens in product(range(len(q)), repeat=number):
        mass, law, laws = 1.0, q, []
        for token in tokens:
            mass *= float(law[token])
            laws.append(law)
            if distinct and mass:
                rest = law.copy()
                rest[token] = 0
                law = rest / rest.sum() if rest.sum() > 0 else rest
        if mass:
            yield mass, tokens, laws


def _block(problem: Problem) -> Iterator[tuple[Text, float]]:
    """Block verification: of the prefixes whose own test succeeds, the longest is kept."""
    k = problem.draft_length
    for tokens in product(range(problem.vocabulary), repeat=k):
        states, mass, weights = [0], 1.0, [1.0]
        for i, token in enumerate(tokens):
            p, q = problem.target[i][states[i]][token], problem.draft[i][states[i]][token]
            mass *= float(q)
            weights.append(min(1.0, weights[i] * float(p / q)) if q else 0.0)
            states.append(states[i] * problem.memory + token % problem.memory)
        if not mass:
            continue
        alive = mass
        for kept in range(k, -1, -1):
            p = problem.target[kept][states[kept]]
            q = problem.draft[kept][states[kept]] if kept < k else np.zeros_like(p)
            left = np.clip(weights[kept] * p - q, 0, None)
            chance = _block_chance(kept, k, weights[kept], float(left.sum()))
            if alive * chance:
                law = left / left.sum() if left.sum() > 0 else p
                yield from (((*tokens[:kept], t), alive * chance * float(x)) for t, x in enumerate(law) if x)
            alive *= 1 - chance


def _block_chance(kept: int, k: int, weight: float, rest: float) -> float:
    if kept == 0:
        return 1.0
    if kept == k:
        return weight
    return rest / (rest + 1 - weight) if rest > 0 else float(weight == 1)
