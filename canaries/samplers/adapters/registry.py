"""All adapters by the name that `draftgate sampler --as` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...errors import UsageError
from ..interface import Adapted, Pair, Sampler
from . import batches, fitting, sequences, trees


class Row(NamedTuple):
    """One signature: how it is adapted, and what it looks like."""

    adapt: Callable[[Any], Sampler | Pair]
    signature: str


def _as_it_is(function: Any) -> Any:
    return function


def _pair(two: Any) -> Pair:
    if not (isinstance(two, tuple) and len(two) == 2 and all(map(callable, two))):  # noqa: PLR2004
        raise UsageError("--as pair: name a tuple (drafter, sampler), or a Pair")
    return Pair(*two)


ADAPTERS: Mapping[str, Row] = {
    "batch": Row(_as_it_is, "(target_probs, draft_probs, draft_tokens, generator) -> tokens"),
    "per-sequence": Row(sequences.per_sequence, "the same for one row, tensors and a torch.Generator -> list"),
    "numpy-sequence": Row(sequences.numpy_per_sequence, "the same for one row, arrays and a numpy Generator -> list"),
    "numpy": Row(sequences.numpy_batch, "the same for a batch of arrays, with a numpy Generator -> array"),
    "logits": Row(batches.logits, "(target_logits, draft_logits, draft_tokens, generator) -> tokens"),
    "greedy": Row(batches.greedy, "(target_logits, draft_logits, draft_tokens, generator) -> tokens, at T = 0"),
    "chosen": Row(batches.chosen, "(target_probs, None, draft_tokens, generator) -> tokens; drafts are chosen"),
    "vllm": Row(batches.vllm, "vLLM's rejection_sample(draft_token_ids, num_draft_tokens, ...)"),
    "jax": Row(batches.jax, "(target_probs, draft_probs, draft_tokens, key) -> tokens, on JAX arrays"),
    "tree": Row(trees.tree, "(tokens, parents, target_probs, draft_probs, rng) -> list, for one tree"),
    "engine": Row(trees.engine, "a Verifier of draftgate's engine"),
    "pair": Row(_pair, "a tuple (drafter, sampler); drafter(draft_probs, generator) -> (tokens, probs)"),
}


def adapt(found: Any, adapter: str = "batch") -> Sampler | Pair:
    """`found` as a sampler; what is adapted already, and a Pair, stay as they are. Raises UsageError in one line."""
    if isinstance(found, Adapted | Pair):
        return found
    fitting.check(found, adapter)
    try:
        return ADAPTERS[adapter].adapt(found)
    except ImportError as error:
        raise UsageError(f"--as {adapter} needs a library that is not installed ({error.name})") from error
