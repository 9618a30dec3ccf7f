"""The exchangeable parts of the reference engine. A plant is a function from one bundle of these to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...engine.cache.contiguous import ContiguousCache
from ...engine.cache.paged import PagedCache
from ...engine.cache.radix import RadixTree
from ...engine.decoding.answer import Answer
from ...engine.decoding.round import AnswerFactory, Law, Speculation
from ...engine.drafters.base import Drafter
from ...engine.drafters.draft_model import DraftModel
from ...engine.models.base import CacheFactory, LanguageModel
from ...engine.randomness import CounterRandomness, Randomness
from ...engine.sampling import next_token_probs
from ...engine.scheduling.memory import Memory
from ...engine.scheduling.scheduler import Scheduler
from ...engine.verification.base import Verifier
from ...engine.verification.lossless import Lossless


def as_loaded(model: LanguageModel) -> LanguageModel:
    """The target as it was loaded: nothing stands between it and the arm."""
    return model


def as_built(drafter: Drafter) -> Drafter:
    """The drafter of the method, by itself."""
    return drafter


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategies:
    """What an arm is built from, beside its models and its drafter; plain decoding needs its `model` only.

    `speculation`, `scheduler`, `memory`, `prefixes` and `paged` make up a session under load; `new_cache` is that of
    decoding alone, `draft_cache` the draft model's.
    """

    verifier: Verifier = field(default_factory=Lossless)
    new_cache: CacheFactory = ContiguousCache
    randomness: Randomness = field(default_factory=CounterRandomness)
    draft_model: type[DraftModel] = DraftModel
    law: Law = next_token_probs
    new_answer: AnswerFactory = Answer
    model: Callable[[LanguageModel], LanguageModel] = as_loaded
    drafter: Callable[[Drafter], Drafter] = as_built
    draft_cache: CacheFactory = ContiguousCache
    speculation: type[Speculation] = Speculation
    scheduler: type[Scheduler] = Scheduler
    memory: type[Memory] = Memory
    prefixes: type[RadixTree] = RadixTree
    paged: type[PagedCache] = PagedCache

    def names(self) -> dict[str, str]:
        """What an arm's identity tells of them."""
        return {
            "verifier": type(self.verifier).__name__,
            "cache": getattr(self.new_cache, "__name__", type(self.new_cache).__name__),
            "randomness": type(self.randomness).__name__,
        }
