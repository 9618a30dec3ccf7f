"""How much is asked by the end points that people call, and what a fault there must change to be seen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """What is asked by the end points that people call: `prompts` canaries of each kind, `tokens` at most an answer.

    All is asked one by one and then `batch` at a time. `logprobs` is how many of the best tokens are to be told at each
    place. `effect` is the share of the answers of a sort (text, tool calls, schemas) that a fault must change to be
    seen, `told_effect` the share of the told logprobs.
    """

    prompts: int
    tokens: int
    batch: int
    logprobs: int
    effect: float
    told_effect: float
