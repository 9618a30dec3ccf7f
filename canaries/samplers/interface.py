"""What a sampler takes and returns, and the contract that every answer of one is held to.

A sampler is one round of speculative decoding for a batch: given the target's laws along each draft, the laws that the
draft tokens were drawn from, and the draft tokens, it returns what the round emits. Knows nothing about statistics.

Shapes: B rows, K drafted tokens, V tokens in the vocabulary. Laws are float32 or float64 and sum to 1 over V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Generator, Tensor

from ..errors import ContractBroken

END = -1
"""What stands in a row after its last token."""
LAW_SLACK = 1e-4
"""How far a row may be from mass 1: a float32 softmax over 128,000 tokens is nearer, a forgotten token further off."""

Sampler: TypeAlias = Callable[[Tensor, Any, Tensor, Generator], Tensor]
"""`sampler(target_probs, draft_probs, draft_tokens, generator) -> tokens`.

target_probs (B, K + 1, V): row i is the target's law after the first i draft tokens. draft_probs (B, K, V): row i is
the law that draft token i was drawn from; None where drafts are chosen, not drawn. draft_tokens (B, K). Returns
integers (B, K + 1): what is emitted, at least one token a row, -1 after the end. All chance comes from `generator`.
"""


class Inputs(NamedTuple):
    """What a sampler is given in one call, the generator aside."""

    target_probs: Tensor
    draft_probs: Tensor | None
    draft_tokens: Tensor

    def copied(self) -> Inputs:
        """The same numbers in other memory."""
        return Inputs(*(None if x is None else x.clone() for x in self))  # type: ignore[arg-type]

    def versions(self) -> tuple[int, ...]:
        """Counts of the writes that torch has seen, one a tensor."""
        return tuple(x._version for x in self if x is not None)  # noqa: SLF001 - the only counter of writes there is


HINTS = {
    "NoneType": "; does it end without return?",
    "tuple": ", the tokens alone",
    "list": "; for one row a list is right, with --as per-sequence or numpy-sequence",
    "ndarray": "; make it a tensor, or give --as numpy where it takes arrays too",
}
"""What may help where something else than a tensor comes, by its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """A sampler made of a function with another signature, and what its drafts must be like. Call it like a sampler.

    per_sequence
        It works row by row in Python: fewer rounds are drawn.
    chosen
        It knows no q: draft tokens are chosen (the likeliest), not drawn, and `draft_probs` is None.
    parents
        Drafts are trees: the parent of each node, node 0 the root with parent -1. Then `draft_tokens` is (B, N) for the
        N nodes below the root, `draft_probs` (B, N, V), `target_probs` (B, N + 1, V); answers have depth + 1 tokens.
    greedy
        It decodes at T = 0: all targets are one-hot, and nothing but their support can be tested.
    distinct
        Siblings are drawn without replacement; each states its law given the siblings before it.
    """

    call: Sampler
    per_sequence: bool = False
    chosen: bool = False
    parents: tuple[int, ...] = ()
    distinct: bool = False
    greedy: bool = False

    def __call__(
        self, target_probs: Tensor, draft_probs: Tensor | None, draft_tokens: Tensor, generator: Generator
    ) -> Tensor:
        """The adapted function's answer."""
        return self.call(target_probs, draft_probs, draft_tokens, generator)


class Drafted(NamedTuple):
    """One drafted token a row: tokens (B,), and probs (B, V), the law that the drafter says it drew them from."""

    tokens: Tensor
    probs: Tensor


Drafter: TypeAlias = Callable[[Tensor, Generator], Drafted]
"""`drafter(draft_probs (B, V), generator) -> Drafted`, called once a position, with the draft model's law there."""


class Pair(NamedTuple):
    """A drafter with the sampler that judges what it drafts; both take chance from the same generator."""

    drafter: Drafter
    sampler: Sampler


def check_inputs(inputs: Inputs) -> None:
    """Raises ValueError, naming the first offending row, unless the laws are laws and the tokens lie in them."""
    target, draft, tokens = inputs
    rows, steps, vocabulary = target.shape
    if draft is not None and draft.shape != (rows, steps - 1, vocabulary):
        raise ValueError(f"draft_probs has shape {tuple(draft.shape)}, not {(rows, steps - 1, vocabulary)}")
    if tokens.shape != (rows, steps - 1):
        raise ValueError(f"draft_tokens has shape {tuple(tokens.shape)}, not {(rows, steps - 1)}")
    for name, laws in (("target_probs", target), ("draft_probs", draft)):
        if laws is not None:
            check_laws(name, laws)
    outside = (tokens < 0) | (tokens >= vocabulary)
    if outside.any():
        row, place = (int(i) for i in outside.nonzero()[0])
        raise ValueError(f"draft_tokens[{row}, {place}] is {int(tokens[row, place])}, outside 0..{vocabulary - 1}")


def check_laws(name: str, laws: Tensor) -> None:
    """Raises ValueError, naming the first of `laws` (B, steps, V) that is none."""
    total = laws.sum(dim=-1, dtype=torch.float64)
    wrong = ~((laws >= 0).all(dim=-1) & ((total - 1).abs() <= LAW_SLACK))  # a NaN is in neither
    if wrong.any():
        row, place = (int(i) for i in wrong.nonzero()[0])
        raise ValueError(
            f"{name}[{row}, {place}] is no law (it sums to {float(total[row, place]):g}, smallest entry "
            f"{float(laws[row, place].min()):g}); give non-negative numbers that sum to 1"
        )


def checked_tokens(tokens: object, shape: tuple[int, int], vocabulary: int) -> Tensor:
    """`tokens` as int64 of `shape` (B, K + 1), or ContractBroken with the first offending row in one line."""
    rows, steps = shape
    if not isinstance(tokens, Tensor):
        kind = type(tokens).__name__
        raise ContractBroken(
            f"the sampler returned {kind}; return a tensor of shape {(rows, steps)}{HINTS.get(kind, '')}"
        )
    if tokens.shape != (rows, steps):
        raise ContractBroken(
            f"the sampler returned shape {tuple(tokens.shape)}; it must be (B, K + 1) = {(rows, steps)}"
        )
    if tokens.dtype not in (torch.int64, torch.int32):
        raise ContractBroken(f"the sampler returned {tokens.dtype}; token ids must be torch.int64 or torch.int32")
    found = tokens.detach().to(torch.int64, copy=True)  # it may be a buffer that the next call writes to
    _refuse_ids(found, vocabulary)
    ended = found == END
    for wrong, what in (
        (ended[:, :1], "emits nothing: the first entry is -1; a round emits at least one token"),
        (ended[:, :-1] & ~ended[:, 1:], "goes on after -1; -1 may only stand after the end"),
    ):
        if wrong.any():
            row = int(wrong.nonzero()[0, 0])
            raise ContractBroken(f"row {row} of the answer {what}: {found[row].tolist()}")
    return found


def _refuse_ids(tokens: Tensor, vocabulary: int) -> None:
    if tokens.numel() and (int(tokens.min()) < END or int(tokens.max()) >= vocabulary):
        row, place = (int(i) for i in ((tokens < END) | (tokens >= vocabulary)).nonzero()[0])
        raise ContractBroken(
            f"token [{row}, {place}] is {int(tokens[row, place])}; ids lie in 0..{vocabulary - 1}; -1 marks the end"
        )
