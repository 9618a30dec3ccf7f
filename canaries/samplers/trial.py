"""Draws rounds from a sampler on known laws and counts what comes out. Decides nothing.

Each call has rows of all problems of a bundle, in one random order: a sampler that takes another row's or another
position's law cannot hide. Shorter outputs are completed with the target's own law, so that what is counted is the law
of the first K + 1 tokens however few a round emits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..errors import ContractBroken
from .calling import Caller
from .drafting import Settings, drafting
from .interface import END, Inputs, Pair, Sampler, check_inputs
from .laws import Bundle
from .tables import Tables

Ints = npt.NDArray[np.int64]
MOST_CELLS = 4096
"""Raw outcomes of a problem up to which joint laws are counted term by term."""


@dataclass(slots=True)
class Seen:
    """What came out of the rounds of one bundle with M problems.

    Where outcomes are few: joint (M, V**(K+1)), completed; raw (M, (V+1)**(K+1)), as they came, the end written as V.
    Where they are many, both are None, and there are: tokens, for each position (M * S**i, V), completed, by state;
    classes (M, S**(K+1)), what each token is modulo S. Always: emitted (M, K+2), how many tokens rounds emitted.
    """

    joint: Ints | None
    raw: Ints | None
    tokens: list[Ints]
    classes: Ints
    emitted: Ints


class Answer(NamedTuple):
    """One call: what the sampler was given, and its tokens (B, K + 1)."""

    inputs: Inputs
    tokens: Tensor


class Trial:
    """One bundle on which a sampler, or a (drafter, sampler) pair, is tried."""

    def __init__(self, bundle: Bundle, sampler: Sampler | Pair, settings: Settings) -> None:
        self.bundle, self.settings, self.sampler = bundle, settings, sampler
        inner = sampler.sampler if isinstance(sampler, Pair) else sampler
        self.call = Caller(inner, bundle.draft_length + 1, seconds=settings.seconds, case=bundle.name)
        self.tables = Tables(bundle, settings.dtype, settings.device)
        m = len(bundle.problems)
        self.rows = max(1, settings.batch // m) * m
        self.which = (torch.randperm(self.rows, generator=settings.ours) % m).contiguous()
        self.calls = 0
        self.seen = self._empty(m)
        self.drafting = drafting(sampler, self.tables, self.call, settings)

    def _empty(self, m: int) -> Seen:
        v, s, steps = self.bundle.vocabulary, self.bundle.memory, self.bundle.draft_length + 1
        few = few_outcomes(self.bundle)
        return Seen(
            joint=np.zeros((m, v**steps), np.int64) if few else None,
            raw=np.zeros((m, (v + 1) ** steps), np.int64) if few else None,
            tokens=[] if few else [np.zeros((m * s**i, v), np.int64) for i in range(steps)],
            classes=np.zeros((m, 0 if few else s**steps), np.int64),
            emitted=np.zeros((m, steps + 1), np.int64),
        )

    @property
    def rounds_a_call(self) -> int:
        """Rounds of each problem in one call."""
        return self.rows // len(self.bundle.problems)

    def once(self) -> Answer:
        """What one call is given and gives, uncounted."""
        inputs = self.drafting.draw(self.which)
        return Answer(inputs, self.call(inputs, self.settings.theirs))

    def repeated(self) -> None:
        """Raises ContractBroken unless the same chance gives the same answer again."""
        first, again = twice(self, self)
        if not torch.equal(first.tokens, again.tokens):
            row = int((first.tokens != again.tokens).any(dim=1).nonzero()[0, 0])
            raise ContractBroken(
                f"the same inputs and generator state gave {first.tokens[row].tolist()} and then "
                f"{again.tokens[row].tolist()} in row {row}; all chance must come from the generator handed over"
            )

    def run(self, calls: int) -> None:
        """`calls` calls are drawn and counted. Raises ContractBroken or SamplerFailed."""
        for _ in range(calls):
            inputs = self.drafting.draw(self.which)
            if self.calls == 0:
                check_inputs(inputs)
                answer = self.call.first(inputs, self.settings.theirs)
            else:
                answer = self.call(inputs, self.settings.theirs)
            self.count(answer.cpu())
            self.calls += 1

    def completed(self, tokens: Tensor) -> Tensor:
        """The answers (B, K + 1), what is missing at their ends drawn from the target's own law."""
        state, whole = self.which, tokens.clone()
        for place in range(tokens.shape[1]):
            drawn = self.tables.completing[place].draw(state, self.settings.ours)
            whole[:, place] = torch.where(tokens[:, place] == END, drawn, tokens[:, place])
            state = self.tables.next(state, whole[:, place])
        return whole

    def count(self, tokens: Tensor) -> None:
        """The answers (B, K + 1) are completed and counted."""
        v, seen, code, raw, state = self.bundle.vocabulary, self.seen, self.which, self.which, self.which
        for place in range(tokens.shape[1]):
            token = whole = tokens[:, place]
            if place:
                drawn = self.tables.completing[place].draw(state, self.settings.ours)
                whole = torch.where(token == END, drawn, token)
            if seen.joint is None:
                seen.tokens[place] += _tally(state * v + whole, seen.tokens[place])
            else:
                code, raw = code * v + whole, raw * (v + 1) + torch.where(token == END, v, token)
            state = self.tables.next(state, whole)
        if seen.joint is not None and seen.raw is not None:
            seen.joint += _tally(code, seen.joint)
            seen.raw += _tally(raw, seen.raw)
        else:
            seen.classes += _tally(state, seen.classes)
        lengths = (tokens != END).sum(dim=1)
        seen.emitted += _tally(self.which * seen.emitted.shape[1] + lengths, seen.emitted)


def twice(one: Trial, other: Trial) -> tuple[Answer, Answer]:
    """One call of each, on the same chance: that of `one`."""
    ours, theirs = one.settings.ours.get_state(), one.settings.theirs.get_state()
    first = one.once()
    other.settings.ours.set_state(ours)
    other.settings.theirs.set_state(theirs)
    return first, other.once()


def few_outcomes(bundle: Bundle) -> bool:
    """Whether whole outcomes are counted, not tokens by position."""
    return bool((bundle.vocabulary + 1) ** (bundle.draft_length + 1) <= MOST_CELLS)


def _tally(code: Tensor, like: Ints) -> Ints:
    found: Ints = np.bincount(code.numpy(), minlength=like.size).reshape(like.shape)
    return found
