"""The exact law of somebody's sampler on a small case: torch functions of the interface, and Python functions.

A Python function is first handed Fractions, so that its law is a rational identity. Where it needs floats, and always
for torch, the law is that of the program with its rounded constants: a distance below SLACK is rounding, not a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ....stats.exact import Text, completed, paths
from ....stats.generator import SymbolicGenerator
from ....stats.rounding import RoundingRandomness
from ....stats.symbolic import NotEnumerable
from ..intercept import intercepted
from ..interface import END, Sampler, checked_tokens
from .cases import ZERO, Case
from .rounds import Drafted, Round, drafts
from .rules import DRAWN

SLACK = {torch.float64: 1e-9, torch.float32: 1e-4}
"""Distances that rounding may explain, by the type of the laws: a few thousand units in the last place."""
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
        found = self.round.distance(case)
        return found if found > self.slack else ZERO


def torch_round(case: Case, sampler: Sampler, dtype: torch.dtype = torch.float64) -> Enumerated:
    """The law of a sampler of the interface on a chain. Raises NotEnumerable, and ContractBroken for no answer."""

    def answers(drafted: Drafted, chance: RoundingRandomness) -> Text:
        target, draft, tokens = (x[None] for x in _tensors(case, drafted, dtype))
        answer = intercepted(lambda generator: sampler(target, draft, tokens, generator), chance)
        found = checked_tokens(answer, (1, case.k + 1), case.vocabulary)[0].tolist()
        return tuple(token for token in found if token != END)

    return Enumerated(_round(case, answers)[0], SLACK[dtype])


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
    target, draft, tokens = (x.numpy() for x in _tensors(case, drafted, torch.float64))
    chance.rounded = True
    return _tokens(function(target, draft, tokens, SymbolicGenerator(chance)), case)


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


def _tensors(case: Case, drafted: Drafted, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    texts = drafted.texts
    target = torch.tensor([[float(mass) for mass in case.target[text]] for text in texts], dtype=torch.float64)
    draft = torch.tensor([[float(mass) for mass in case.draft[text]] for text in texts[:-1]], dtype=torch.float64)
    return target.to(dtype), draft.to(dtype), torch.from_numpy(drafted.tree.tokens[1:].copy())


def _tokens(answer: Sequence[int], case: Case) -> Text:
    """What a Python function returned, cut at the end mark. Raises ValueError for what are no tokens."""
    tokens = tuple(int(token) for token in answer)
    tokens = tokens[: tokens.index(END)] if END in tokens else tokens
    if not 0 < len(tokens) <= case.k + 1 or not all(0 <= token < case.vocabulary for token in tokens):
        raise ValueError(f"the sampler returned {list(tokens)}; return 1 to {case.k + 1} ids below {case.vocabulary}")
    return tokens
