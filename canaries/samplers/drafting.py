"""Makes the drafts that a sampler judges: chains drawn from known laws, trees, or what a drafter under test draws.

Only the state of a row is passed in; what comes out is what the sampler is handed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Generator, Tensor

from ..errors import ContractBroken
from .calling import Caller
from .interface import Adapted, Inputs, Pair, Sampler, check_laws
from .laws import Floats
from .tables import Tables, likelier_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a sampler is called. `ours` draws what we draw; `theirs` is handed to the sampler and to nobody else."""

    ours: Generator
    theirs: Generator
    batch: int
    seconds: float
    dtype: torch.dtype = torch.float32
    device: torch.device = torch.device("cpu")


MOST_NUMBERS = 2**19
"""Tokens of a drafter that are kept for its test: more than the finest effect asks for."""


class Drafting(Protocol):
    """A way of making drafts."""

    def draw(self, rows: Tensor) -> Inputs:
        """Fresh drafts for `rows` (B,), the number of each row's problem."""


def drafting(sampler: Sampler | Pair, tables: Tables, call: Caller, settings: Settings) -> Drafting:
    """The drafts that `sampler` needs."""
    if isinstance(sampler, Pair):
        return Paired(sampler, tables, call, settings)
    if isinstance(sampler, Adapted) and sampler.parents:
        return Trees(sampler, tables, settings)
    return Chains(tables, settings, stated=not (isinstance(sampler, Adapted) and sampler.chosen))


@dataclass(frozen=True, slots=True)
class Chains:
    """One branch, drawn from the draft's own laws; `stated` is whether the sampler is told them."""

    tables: Tables
    settings: Settings
    stated: bool

    def draw(self, rows: Tensor) -> Inputs:
        """Tokens one after the other, each given those before it."""
        state, tokens = rows, []
        for table in self.tables.drafting:
            drawn = table.draw(state, self.settings.ours)
            tokens.append(drawn)
            state = self.tables.next(state, drawn)
        at, device = state.to(self.settings.device), self.settings.device
        x = torch.stack(tokens, dim=1) if tokens else torch.zeros((len(rows), 0), dtype=torch.int64)
        draft = self.tables.draft.index_select(0, at) if self.stated else None
        return Inputs(self.tables.target.index_select(0, at), draft, x.to(device))


class Paired:
    """One branch that the pair's own drafter draws, position by position. What it reports is what the sampler is told.

    `numbers` are its first tokens as numbers, uniform on [0, 1] if they follow the law that it reports; `impossible`
    counts those that it reports to have had no chance.
    """

    def __init__(self, pair: Pair, tables: Tables, call: Caller, settings: Settings) -> None:
        self._pair, self._tables, self._call, self._settings = pair, tables, call, settings
        self._numbers: list[Floats] = []
        self._kept = 0
        self.impossible = 0

    @property
    def numbers(self) -> Floats:
        """All numbers that were kept, (n,)."""
        return np.concatenate(self._numbers) if self._numbers else np.zeros(0)

    def draw(self, rows: Tensor) -> Inputs:
        """Raises ContractBroken where the drafter answers badly."""
        state, tokens, reported = rows, [], []
        for place in range(len(self._tables.drafting)):
            laws = self._tables.drafter_laws(place, state)
            drawn, probs = self._call.guarded(self._pair.drafter, laws, self._settings.theirs)
            found = self._checked(drawn, probs, laws)
            self._keep(probs.cpu().double(), found)
            tokens.append(found)
            reported.append(probs)
            state = self._tables.next(state, found)
        target, stated = (
            self._tables.target.index_select(0, state.to(self._settings.device)),
            torch.stack(reported, dim=1),
        )
        try:
            check_laws("draft_probs", stated)
        except ValueError as error:
            raise ContractBroken(f"the drafter's answer: {error}") from error
        return Inputs(target, stated, torch.stack(tokens, dim=1).to(self._settings.device))

    def _keep(self, probs: Tensor, tokens: Tensor) -> None:
        self.impossible += int((probs.gather(1, tokens[:, None]) == 0).sum())
        if self._kept < MOST_NUMBERS:
            self._numbers.append(likelier_first(probs, tokens, self._settings.ours).numpy())
            self._kept += len(tokens)

    def _checked(self, tokens: Tensor, probs: Tensor, laws: Tensor) -> Tensor:
        if tokens.shape != laws.shape[:1] or probs.shape != laws.shape:
            shapes = f"{tuple(tokens.shape)} and {tuple(probs.shape)}"
            raise ContractBroken(f"the drafter returned shapes {shapes}; tokens must be (B,) and probs (B, V)")
        found = tokens.cpu().to(torch.int64)
        outside = (found < 0) | (found >= laws.shape[1])
        if outside.any():
            row = int(outside.nonzero()[0, 0])
            raise ContractBroken(
                f"the drafter's token in row {row} is {int(found[row])}; ids lie in 0..{laws.shape[1] - 1}"
            )
        return found


class Trees:
    """Trees of one shape; siblings are drawn with or without replacement from the draft's law at their parent."""

    def __init__(self, sampler: Adapted, tables: Tables, settings: Settings) -> None:
        self._parents, self._distinct = sampler.parents, sampler.distinct
        self._tables, self._settings = tables, settings
        self._depth = [0] * len(self._parents)
        for node, parent in enumerate(self._parents[1:], 1):
            self._depth[node] = self._depth[parent] + 1

    def draw(self, rows: Tensor) -> Inputs:
        """Nodes in their order: parents before children, siblings one after the other."""
        states, tokens, stated = [rows], list[Tensor](), list[Tensor]()
        for node, parent in enumerate(self._parents[1:], 1):
            q = self._tables.draft_at[self._depth[parent]][states[parent]]
            if self._distinct:
                q = q.clone()
                for other in range(1, node):
                    if self._parents[other] == parent:
                        q.scatter_(1, tokens[other - 1][:, None], 0.0)
                q /= q.sum(dim=1, keepdim=True)
            drawn = inverted(q, self._settings.ours)
            tokens.append(drawn)
            stated.append(q)
            states.append(self._tables.next(states[parent], drawn))
        laws = [self._tables.target_at[depth][state] for depth, state in zip(self._depth, states, strict=True)]
        place, dtype = self._settings.device, self._settings.dtype
        target, draft = (torch.stack(x, dim=1).to(place, dtype) for x in (laws, stated))
        return Inputs(target, draft, torch.stack(tokens, dim=1).to(place))


def inverted(laws: Tensor, generator: Generator) -> Tensor:
    """One token a row of `laws` (B, V), by inversion; never one of mass 0."""
    sums = laws.cumsum(dim=1)
    u = torch.rand((len(laws), 1), generator=generator, dtype=torch.float64)
    return torch.searchsorted(sums, u * sums[:, -1:], right=True)[:, 0]
