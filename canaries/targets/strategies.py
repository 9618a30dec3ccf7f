"""The exchangeable parts of the reference engine. A plant is a function from one bundle of these to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...engine.cache.contiguous import ContiguousCache
from ...engine.decoding.answer import Answer
from ...engine.decoding.speculative import AnswerFactory, Law
from ...engine.drafters.draft_model import DraftModel
from ...engine.models.base import CacheFactory, LanguageModel
from ...engine.randomness import CounterRandomness, Randomness
from ...engine.sampling import next_token_probs
from ...engine.verification.base import Verifier
from ...engine.verification.lossless import Lossless


def as_loaded(model: LanguageModel) -> LanguageModel:
    """The target as it was loaded: nothing stands between it and the arm."""
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategies:
    """What an arm is built from, beside its models and its drafter; plain decoding needs its `model` only."""

    verifier: Verifier = field(default_factory=Lossless)
    new_cache: CacheFactory = ContiguousCache
    randomness: Randomness = field(default_factory=CounterRandomness)
    draft_model: type[DraftModel] = DraftModel
    law: Law = next_token_probs
    new_answer: AnswerFactory = Answer
    model: Callable[[LanguageModel], LanguageModel] = as_loaded
