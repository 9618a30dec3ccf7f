"""The exact law of somebody's sampler on a small case: functions of the interface, pairs, and Python functions.

A Python function is first handed Fractions, so that its law is a rational identity. Where it needs floats, and always
for torch, the law is that of the program with its rounded constants: a distance below SLACK is rounding, not a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Generator, Tensor

from ....stats.exact import Text, completed, paths, total_variation
from ....stats.generator import SymbolicGenerator
from ....stats.rounding import RoundingRandomness
from ....stats.symbolic import NotEnumerable, exactly
from ...errors import ContractBroken
from ..intercept import intercepted
from ..interface import END, Adapted, Inputs, Pair, Sampler, checked_tokens
from .cases import ZERO, Case, Law, rational
from .rounds import Drafted, Round, drafts
from .rules import DRAWN, drawn, drawn_without_replacement, likeliest

SLACK = {torch.float64: 1e-9, torch.float32: 1e-5}
"""Distances that rounding may explain, by the type of the laws: some hundred units in the last place."""
MOST_PATHS = 20_000
"""Paths of one draft after which a sampler is given up: a Python function that forks without end."""

Sequential: TypeAlias = Callable[[Any, Any, Any, Any], Sequence[int]]
"""`function(target_probs (K + 1, V), draft_probs (K, V), draft_tokens (K,), rng) -> tokens`, rng a numpy Generator."""


class Enumerated(NamedTuple):
    """A round, and how far from the target's law it may lie by rounding alone; 0 where all was rational."""

    round: Round
    slack: float

    def distance(self, case: Case) -> Fraction:
        """Total variation from the target's law; 0 where rounding may explain it."""
        return beyond(self.slack, self.round.distance(case))


class Played(NamedTuple):
    """One row of one path: the history behind each node of the draft, and what was emitted."""

    texts: list[Text]
    emitted: Text


def torch_round(case: Case, sampler: Sampler | Pair, dtype: torch.dtype = torch.float64) -> Enumerated:
    """The law of a sampler of the interface, or of a pair, called with one row.

    Raises NotEnumerable, also for a shape that is not the sampler's own, and ContractBroken for what is no answer.
    """
    emitted: dict[Text, Fraction] = {}
    contained: dict[Text, Fraction] = {}
    accepted = ZERO
    for (row,), mass in paths(
        partial(_play, sampler, (case,), dtype), most_paths=MOST_PATHS, chance=RoundingRandomness
    ):
        emitted[row.emitted] = emitted.get(row.emitted, ZERO) + mass
        accepted += mass * (len(row.emitted) - 1)
        for text in set(row.texts[1:]):
            contained[text] = contained.get(text, ZERO) + mass
    whole = completed(emitted, case.target.__getitem__, length=case.k + 1)
    return Enumerated(Round(whole, accepted, contained), SLACK[dtype])


def rows_distance(cases: tuple[Case, Case], sampler: Sampler | Pair, dtype: torch.dtype = torch.float64) -> Fraction:
    """How far two rows of one call, of one V and K, are from being independent and each of its own target's law."""
    law: dict[tuple[Text, Text], Fraction] = {}
    for rows, mass in paths(partial(_play, sampler, cases, dtype), most_paths=MOST_PATHS, chance=RoundingRandomness):
        key = rows[0].emitted, rows[1].emitted
        law[key] = law.get(key, ZERO) + mass
    first = _completed_first(law, cases[0])
    both = _completed_first({(b, a): mass for (a, b), mass in first.items()}, cases[1])
    apart = {(b, a): p * q for a, p in cases[0].joint.items() for b, q in cases[1].joint.items()}
    return beyond(SLACK[dtype], total_variation(both, apart))


def beyond(slack: float, distance: Fraction) -> Fraction:
    """The distance, or 0 where rounding may explain it."""
    return distance if distance > slack else ZERO


def _completed_first(law: Mapping[tuple[Text, Text], Fraction], case: Case) -> dict[tuple[Text, Text], Fraction]:
    """The law of two texts with the first of them completed by the target's law of `case`."""
    beside: dict[Text, dict[Text, Fraction]] = {}
    for (one, other), mass in law.items():
        beside.setdefault(other, {})[one] = mass
    wholes = {other: completed(of, case.target.__getitem__, length=case.k + 1) for other, of in beside.items()}
    return {(one, other): mass for other, whole in wholes.items() for one, mass in whole.items()}


def _play(
    sampler: Sampler | Pair, cases: Sequence[Case], dtype: torch.dtype, chance: RoundingRandomness
) -> list[Played]:
    """One path of a call with a row for each case: drafting, judging, and the tokens of each row."""

    def call(generator: Generator) -> tuple[list[list[Text]], Any]:
        texts, reported = _drafted(sampler, cases, dtype, chance, generator)
        target = torch.stack([_tensor(map(c.target.__getitem__, t), dtype) for c, t in zip(cases, texts, strict=True)])
        tokens = torch.tensor([[text[-1] for text in row[1:]] for row in texts])
        judge = sampler.sampler if isinstance(sampler, Pair) else sampler
        inputs = Inputs(target, reported, tokens)
        versions = inputs.versions()
        answer = judge(*inputs, generator)
        if inputs.versions() != versions:
            raise ContractBroken("the sampler wrote to its inputs; it must leave them alone")
        return texts, answer

    if isinstance(sampler, Adapted) and sampler.parents and sampler.parents != cases[0].parents:
        raise NotEnumerable(f"the sampler takes trees with parents {list(sampler.parents)} only")
    texts, answer = intercepted(call, chance)
    found = checked_tokens(answer, (len(cases), cases[0].k + 1), cases[0].vocabulary).tolist()
    rows = [tuple(token for token in row if token != END) for row in found]
    return [Played(text, row) for text, row in zip(texts, rows, strict=True)]


def _drafted(
    sampler: Sampler | Pair, cases: Sequence[Case], dtype: torch.dtype, chance: RoundingRandomness, generator: Generator
) -> tuple[list[list[Text]], Tensor | None]:
    """The histories behind the nodes of all rows, drawn by us or by the pair's drafter, and the laws told of them."""
    if not isinstance(sampler, Pair):
        drawn = [_nodes(case, sampler, chance) for case in cases]
        told = None if isinstance(sampler, Adapted) and sampler.chosen else [_tensor(laws, dtype) for _, laws in drawn]
        return [texts for texts, _ in drawn], None if told is None else torch.stack(told)
    texts: list[list[Text]] = [[()] for _ in cases]
    reported = []
    for _ in range(cases[0].k):
        given = _tensor((case.draft[row[-1]] for case, row in zip(cases, texts, strict=True)), dtype)
        tokens, probs = sampler.drafter(given, generator)
        reported.append(probs)
        texts = [[*row, (*row[-1], token)] for row, token in zip(texts, tokens.tolist(), strict=True)]
    return texts, torch.stack(reported, dim=1)


def _nodes(case: Case, sampler: Sampler, chance: RoundingRandomness) -> tuple[list[Text], list[Law]]:
    """The histories behind the nodes of one draft, and the laws that their tokens were drawn from."""
    distinct, chosen = (isinstance(sampler, Adapted) and getattr(sampler, word) for word in ("distinct", "chosen"))
    texts: list[Text] = [()]
    laws: list[Law] = []
    for node, parent in enumerate(case.parents[1:], start=1):
        stem = texts[parent]
        earlier = [texts[other][-1] for other in range(1, node) if case.parents[other] == parent]
        taken = likeliest if chosen else drawn_without_replacement if distinct else drawn
        law = taken(case.draft[stem], earlier)
        if law is None:
            law = rational(Fraction(int(token not in earlier)) for token in range(case.vocabulary))
        laws.append(law)
        texts.append((*stem, chance.weighted(law)))
    return texts, [law / law.sum() for law in laws]


def _tensor(laws: Iterable[Law], dtype: torch.dtype) -> Tensor:
    """Laws as a tensor (laws, V)."""
    rows = [[float(exactly(mass)) for mass in law] for law in laws]
    return torch.tensor(rows, dtype=torch.float64).to(dtype)


def sequence_round(case: Case, function: Sequential) -> Enumerated:
    """The law of a Python function on a chain, in Fractions where it can take them. Raises NotEnumerable."""
    try:
        found, rounded = _round(case, partial(_answers_in_fractions, case, function))
    except (NotEnumerable, TypeError, AttributeError):  # it wants floats, or what it does cannot be followed at all
        found, rounded = _round(case, partial(_answers_in_floats, case, function))
    return Enumerated(found, SLACK[torch.float64] if rounded else 0)


def _answers_in_fractions(case: Case, function: Sequential, drafted: Drafted, chance: RoundingRandomness) -> Text:
    texts = drafted.texts
    target, draft = np.stack([case.target[t] for t in texts]), np.stack([case.draft[t] for t in texts[:-1]])
    return _tokens(function(target, draft, drafted.tree.tokens[1:], SymbolicGenerator(chance)), case)


def _answers_in_floats(case: Case, function: Sequential, drafted: Drafted, chance: RoundingRandomness) -> Text:
    texts = drafted.texts
    target = _tensor(map(case.target.__getitem__, texts), torch.float64)
    draft = _tensor(map(case.draft.__getitem__, texts[:-1]), torch.float64)
    chance.rounded = True
    return _tokens(function(target.numpy(), draft.numpy(), drafted.tree.tokens[1:], SymbolicGenerator(chance)), case)


def _round(case: Case, answers: Callable[[Drafted, RoundingRandomness], Text]) -> tuple[Round, bool]:
    """Every draft of the chain, every path of the sampler; and whether a float was met."""
    emitted: dict[Text, Fraction] = {}
    contained: dict[Text, Fraction] = {}
    accepted, rounded = ZERO, False

    def run(drafted: Drafted, chance: RoundingRandomness) -> tuple[Text, bool]:
        return answers(drafted, chance), chance.rounded

    for drafted in drafts(case, DRAWN):
        for text in set(drafted.texts[1:]):
            contained[text] = contained.get(text, ZERO) + drafted.mass
        for (text, inexact), chance in paths(partial(run, drafted), most_paths=MOST_PATHS, chance=RoundingRandomness):
            rounded |= inexact
            emitted[text] = emitted.get(text, ZERO) + drafted.mass * chance
            accepted += drafted.mass * chance * (len(text) - 1)
    whole = completed(emitted, case.target.__getitem__, length=case.k + 1)
    return Round(whole, accepted, contained), rounded


def _tokens(answer: Sequence[int], case: Case) -> Text:
    """What a Python function returned, cut at the end mark. Raises ValueError for what are no tokens."""
    tokens = tuple(int(token) for token in answer)
    tokens = tokens[: tokens.index(END)] if END in tokens else tokens
    if not 0 < len(tokens) <= case.k + 1 or not all(0 <= token < case.vocabulary for token in tokens):
        raise ValueError(f"the sampler returned {list(tokens)}; return 1 to {case.k + 1} ids below {case.vocabulary}")
    return tokens
