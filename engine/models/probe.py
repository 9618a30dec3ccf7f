"""The mask probe: finds out whether a model can be scored as a tree, as chains only, or not at all.

Compares the engine's way (cache, explicit positions, additive mask) with the model's own forward pass without a cache.
Recurrent models fail it: their state cannot be rolled back by forgetting entries.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from ..cache.contiguous import ContiguousCache
from ..errors import EngineError, LogitsNotFinite, ModelRefused
from .base import Block, Logits
from .huggingface import HuggingFaceModel

# Largest allowed difference, as a share of the spread of the logits. Rounding in float32 gives about 1e-6, in bfloat16
# about 2e-2; a node that sees one token too many or too few moves logits by the order of their spread.
_TOLERANCE = {"float32": 1e-3, "float64": 1e-6, "float16": 2e-2, "bfloat16": 8e-2}
# How foreign code says that it cannot do what it was not written for.
_BREAKS = (LookupError, AttributeError, TypeError, ValueError, RuntimeError)
_SHORT = 5  # tokens of the shorter prompt


class Scoring(StrEnum):
    """What a model may be asked to score in one pass."""

    TREE = "tree"
    CHAIN = "chain"


def probe(model: HuggingFaceModel) -> Scoring:
    """Decides by trying. Raises ModelRefused, with one line, where not even chains agree with the model's own pass."""
    try:
        return _tried(model)
    except EngineError:
        raise
    except _BREAKS as error:  # layers with a state of their own look for it in the cache, and there is none
        reason = (str(error).splitlines() or [""])[0]
        raise ModelRefused(
            f"{type(model.model).__name__} cannot be scored with explicit positions, mask and cache "
            f"({type(error).__name__}: {reason}); draftgate needs attention in every layer"
        ) from error


def _tried(model: HuggingFaceModel) -> Scoring:
    prompt, branches = _tokens(model)
    short = prompt[-_SHORT:]
    wanted = [model.native_logits([*prompt, *branch]) for branch in branches]
    if not all(np.isfinite(logits).all() for logits in wanted):
        raise LogitsNotFinite(
            f"{type(model.model).__name__} answers with logits that are not finite; check its weights and dtype"
        )
    beside = model.native_logits([*short, *branches[1]])
    rows = np.stack([wanted[1][-len(branches[1]) :], beside[-len(branches[1]) :]])
    if not _agrees(model, _chain(model, [prompt, short], branches), rows):
        raise ModelRefused(
            f"{type(model.model).__name__} answers differently when drafts are rolled back (recurrent or unusual "
            "attention?); draftgate needs a cache that can forget its last tokens"
        )
    expected = np.stack([wanted[0][-2], wanted[0][-1], wanted[1][-2], wanted[1][-1]])
    return Scoring.TREE if _agrees(model, _tree(model, prompt, branches), expected) else Scoring.CHAIN


def _tokens(model: HuggingFaceModel) -> tuple[list[int], list[list[int]]]:
    rng = np.random.default_rng(0)
    draws = rng.integers(0, model.vocabulary, 16).tolist()
    return draws[:12], [draws[12:14], draws[14:16]]


def _chain(model: HuggingFaceModel, prompts: list[list[int]], branches: list[list[int]]) -> Logits:
    """Scores the first branch, rolls it back, then scores the second: rollback at both ends of a block.

    Of two prompts side by side, one shorter: a row must not see what only its neighbour holds.
    """
    cache = ContiguousCache(len(prompts))
    model.score(Block.chains([prompt[:-1] for prompt in prompts]), cache)
    cache.commit([list(range(1, len(prompt) - 1)) for prompt in prompts])
    model.score(Block.chains([[prompt[-1], *branches[0]] for prompt in prompts]), cache)
    cache.commit([[] for _ in prompts])
    return model.score(Block.chains([branches[1] for _ in prompts]), cache)


def _tree(model: HuggingFaceModel, prompt: list[int], branches: list[list[int]]) -> Logits:
    """Both branches in one pass under one root."""
    cache = ContiguousCache(1)
    model.score(Block.chains([prompt[:-1]]), cache)
    cache.commit([list(range(1, len(prompt) - 1))])
    tree = [prompt[-1], *branches[0], *branches[1]]
    logits: Logits = model.score(Block.of([tree], [(-1, 0, 1, 0, 3)]), cache)[0, 1:]
    return logits


def _agrees(model: HuggingFaceModel, seen: Logits, wanted: Logits) -> bool:
    tolerance = _TOLERANCE.get(str(model.model.dtype).removeprefix("torch."), 1e-3)
    spread = float(wanted.max() - wanted.min())
    return bool(np.abs(seen - wanted).max() <= tolerance * spread)
