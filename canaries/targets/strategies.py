"""The exchangeable parts of the reference engine. A plant is a function from one bundle of these to another."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...engine.cache.contiguous import ContiguousCache
from ...engine.decoding.answer import Answer
from ...engine.decoding.speculative import AnswerFactory, Law
from ...engine.drafters.draft_model import DraftModel
from ...engine.models.base import CacheFactory
from ...engine.randomness import CounterRandomness, Randomness
from ...engine.sampling import next_token_probs
from ...engine.verification.base import Verifier
from ...engine.verification.lossless import Lossless


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategies:
    """What a speculative arm is built from, beside its models and its drafter."""

    verifier: Verifier = field(default_factory=Lossless)
    new_cache: CacheFactory = ContiguousCache
    randomness: Randomness = field(default_factory=CounterRandomness)
    draft_model: type[DraftModel] = DraftModel
    law: Law = next_token_probs
    new_answer: AnswerFactory = Answer
