"""The prompt's pass: fills the cache and gives the law of the first token. Both kinds of decoding begin with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..cache.base import Cache
from ..errors import EngineError, PromptTooLong
from ..models.base import Block, Bounded, LanguageModel
from ..randomness import Ints
from ..request import Request
from ..sampling import next_token_probs

Floats = npt.NDArray[np.float64]


SEEDS = 2**63  # seeds are 63-bit whole numbers


def prefill(model: LanguageModel, cache: Cache, requests: Sequence[Request]) -> Floats:
    """The law of the first token, (rows, vocabulary); afterwards the cache holds the prompts.

    What the cache holds already is taken for the beginning of the prompts: all but their last token at most.
    Raises PromptTooLong where prompt and answer do not fit the context, EngineError for an empty prompt or a limit
    below 1.
    """
    for request in requests:
        refuse(model, request)
    missing = [request.prompt[held:] for request, held in zip(requests, cache.lengths, strict=True)]
    logits = model.score_last(Block.chains(missing), cache)
    cache.commit([list(range(1, len(tokens))) for tokens in missing])
    return next_token_probs(logits[:, None], [request.sampling for request in requests])[:, 0]


def refuse(model: Bounded, request: Request) -> None:
    """Raises for a request that cannot be served."""
    length = len(request.prompt)
    if length == 0:
        raise EngineError(f"request {request.name} has an empty prompt; give it at least one token")
    if max(request.prompt) >= model.vocabulary or min(request.prompt) < 0:
        raise EngineError(
            f"request {request.name}: token {max(request.prompt)} is outside the model's vocabulary of "
            f"{model.vocabulary}; the tokenizer is another model's"
        )
    if request.max_tokens < 1:
        raise EngineError(f"request {request.name} asks for {request.max_tokens} tokens; ask for at least 1")
    if "" in request.stop:
        raise EngineError(f"request {request.name} has an empty stop string; leave it out")
    if not 0 <= request.seed < SEEDS:
        raise EngineError(f"request {request.name} has seed {request.seed}; it must lie in [0, 2**63)")
    if length + request.max_tokens > model.positions:
        raise PromptTooLong(
            f"request {request.name}: {length} prompt tokens + {request.max_tokens} to generate exceed the model's "
            f"context of {model.positions}; shorten the prompt or the limit"
        )


def seeds(requests: Sequence[Request]) -> Ints:
    """(rows,): each request's own seed."""
    return np.array([request.seed for request in requests], np.int64)
