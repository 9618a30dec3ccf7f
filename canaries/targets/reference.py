"""The reference engine as a target: both arms in this process, on one set of weights.

Builds decoders from a method's name and options; teacher-forces answers; lets the gate turn the knobs and exchange the
models while verifier, cache and chance stay what they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...engine.cache.contiguous import ContiguousCache
from ...engine.costs.rounds import Parts
from ...engine.costs.spent import Spent
from ...engine.decoding.conversation import Conversation
from ...engine.decoding.plain import PlainDecoder
from ...engine.decoding.prefill import refuse
from ...engine.decoding.speculative import SpeculativeDecoder
from ...engine.drafters.base import Drafter
from ...engine.errors import VocabularyMismatch
from ...engine.models import huggingface
from ...engine.models.base import Block, CacheFactory, LanguageModel, Logits
from ...engine.models.huggingface import HuggingFaceModel, load_windowed
from ...engine.models.probe import probe
from ...engine.request import Generation, Request
from ..contracts import Replay, Shape
from ..errors import UsageError
from ..load import Load
from . import caches, verifying
from .drafting import DRAFTERS, TREES
from .hosting import Hosted, scored_behind
from .registry import TARGETS
from .replaying import first_law, scored, stepped_shapes
from .spec import TargetSpec
from .strategies import Strategies

EMBEDDED = Path(huggingface.__file__).parent / "embedded"
DRAFT_LENGTH = 4
WORDS = ("model", "verify", "cache")  # options that are no numbers
SHARES = ("confidence",)  # and those between 0 and 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceTarget:
    """One arm of the reference engine."""

    name: str
    model: LanguageModel
    method: str = "plain"
    draft: LanguageModel | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    strategies: Strategies = field(default_factory=Strategies)

    kind = "reference"
    unseen = ()
    capabilities = frozenset({"forks", "knobs", "synthetic", "law", "conversation", "costs", "serving"})

    @property
    def guarantee(self) -> str:
        """What the arm promises about its tokens."""
        return "SAME_TOKENS" if self.method == "plain" else str(self.strategies.verifier.guarantee)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, the assistant's turn opened."""
        return self.model.encode(messages)

    @property
    def eos(self) -> tuple[int, ...]:
        """Ids that end an answer."""
        known: tuple[int, ...] = getattr(self.model, "eos", ())
        return known

    def check(self, request: Request) -> None:
        """Raises PromptTooLong or EngineError where the request cannot be served."""
        refuse(self.model, request)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests, decoded as one batch."""
        return self._decoder(caches.reach(requests)).generate(requests)

    def dialogue(self) -> Conversation:
        """A conversation on a live cache, nothing said yet."""
        return Conversation(self._decoder(self.model.positions))

    def served(self, load: Load) -> Hosted:
        """A session under this load, with nothing served yet."""
        return Hosted(self, load)

    def scored_behind(self, prompts: Sequence[Sequence[int]], blocks: Sequence[Block], load: Load) -> list[Logits]:
        """Logits (rows, nodes, vocabulary) of each block, one after the other behind the prompts; none is kept."""
        return scored_behind(self, prompts, blocks, load)

    def windowed(self, window: int) -> ReferenceTarget:
        """The same engine on the embedded family, the target's layers seeing `window` tokens."""
        target = load_windowed(EMBEDDED / "target", window)
        return replace(self, model=self.strategies.model(target), draft=huggingface.load(EMBEDDED / "draft"))

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return self.model.vocabulary

    def new_cache(self, tokens: int) -> CacheFactory:
        """Makes the arm's caches, with room for so many committed tokens a row and a draft behind them."""
        return caches.factory(self.cache_type, self.strategies.new_cache, tokens + self.draft_length + 1)

    def _decoder(self, tokens: int) -> PlainDecoder | SpeculativeDecoder:
        if self.method == "plain":
            return PlainDecoder(model=self.model, new_cache=self.new_cache(tokens))
        return SpeculativeDecoder(
            model=self.model,
            drafter=self.drafter(),
            verifier=self.strategies.verifier,
            new_cache=self.new_cache(tokens),
            randomness=self.strategies.randomness,
            law=self.strategies.law,
            new_answer=self.strategies.new_answer,
        )

    def spend(self, requests: Sequence[Request], answers: Sequence[Sequence[int]], turns: int) -> list[Spent]:
        """What both prefills cost, then so many turns of a plain step and a round behind the answers' tokens."""
        parts = {name: getattr(self.strategies, name) for name in ("verifier", "new_cache", "randomness")}
        return Parts(model=self.model, drafter=self.drafter(), **parts).spend(requests, answers, turns)

    def score(
        self, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
    ) -> list[Replay]:
        """Teacher-forces the answers through the model alone, in passes of `width` tokens; 0 means in one pass."""
        return scored(self._forced, requests, answers, width=width, slack=slack)

    def shapes(self, widths: Sequence[int]) -> tuple[Shape, ...]:
        """Every verify width beside passes of one token, in a batch; and alone."""
        return stepped_shapes(widths)

    def next_law(self, requests: Sequence[Request]) -> list[Mapping[int, float] | None]:
        """The law of each answer's first token."""
        return [first_law(self._forced, request) for request in requests]

    def variant(self, method: str, **options: Any) -> ReferenceTarget:
        """The same engine with another drafter or another draft length; trees are judged by a rule that takes them."""
        parts = verifying.for_trees(self.strategies) if method in TREES else self.strategies
        return replace(self, name=method, method=method, options={**self.options, **options}, strategies=parts)

    def on(self, target_model: LanguageModel, draft_model: LanguageModel) -> ReferenceTarget:
        """The same engine with its models exchanged."""
        return replace(self, model=target_model, draft=draft_model)

    def on_cache(self, name: str) -> ReferenceTarget:
        """The same engine with its keys and values kept in another type of cache."""
        others = {key: value for key, value in self.options.items() if key != "cache"}
        return replace(self, options=others if name == caches.FLOAT else {**others, "cache": name})

    def recorded_logits(self, request: Request, answer: Sequence[int]) -> tuple[Logits, Logits]:
        """Logits (tokens, vocabulary) of target and draft before each token; without a draft, a flattened target."""
        (target,) = self._forced([request], [answer], 0)
        if self.draft is None:
            return target, target * np.float32(0.5)
        (draft,) = teacher_forced(self.draft, ContiguousCache, [request], [answer], 0)
        return target, draft

    @property
    def cache_type(self) -> str:
        """What the target keeps its keys and values in. A draft model's own cache is always of floats."""
        return str(self.options.get("cache", caches.FLOAT))

    @property
    def draft_length(self) -> int:
        """How many tokens a round proposes at most; 0 for plain decoding."""
        return 0 if self.method == "plain" else int(self.options.get("k", DRAFT_LENGTH))

    @property
    def label(self) -> str:
        """The arm as it is named on the command line: `plain`, `draft:k=4,cache=int4`."""
        length = {"k": self.draft_length} if self.draft_length else {}
        shown = length | self._told()
        if not shown:
            return self.method
        if rule := verifying.name_of(self.strategies.verifier):
            shown["verify"] = rule
        return f"{self.method}:" + ",".join(f"{key}={value}" for key, value in shown.items())

    def identity(self) -> dict[str, Any]:
        """Effective configuration and digests."""
        described = {
            "name": self.label,
            "method": self.method,
            "guarantee": self.guarantee,
            "model": self.model.identity(),
            "cache_type": self.cache_type,
        }
        if self.method == "plain":
            return described
        options = self._told()
        draft = self.draft.identity() if self.draft is not None and self.method == "draft" else None
        return described | {"options": options | {"k": self.draft_length}, "draft": draft} | self.strategies.names()

    def _told(self) -> dict[str, Any]:
        """The options that can be written down: all but known answers."""
        return {key: value for key, value in self.options.items() if isinstance(value, int | float | str)}

    def _forced(self, requests: Sequence[Request], answers: Sequence[Sequence[int]], width: int) -> list[Logits]:
        reach = max(len(r.prompt) + len(answer) for r, answer in zip(requests, answers, strict=True))
        return teacher_forced(self.model, self.new_cache(reach), requests, answers, width)

    def drafter(self) -> Drafter:
        """A drafter of the arm's own, that has seen nothing."""
        return self.strategies.drafter(DRAFTERS[self.method](self))


def check(spec: TargetSpec) -> TargetSpec:
    """The spec itself, once its name and options are known to exist: before any weights are read."""
    row = TARGETS.get(spec.name)
    if row is None or not row.candidate or row.kind != "reference":
        known = ", ".join(name for name, other in TARGETS.items() if other.candidate)
        raise UsageError(f"unknown target {spec.name!r}; targets: {known}")
    spec.refuse_unknown(row.options)
    caches.named(spec)
    verifying.named(spec)
    return spec


def load_target(folder: Path, dtype: str = "float32") -> HuggingFaceModel:
    """The model that both arms run on, computing in `dtype`, probed. Raises ModelMissing or ModelRefused."""
    model = huggingface.load(folder, getattr(torch, dtype))
    probe(model)
    return model


def build(spec: TargetSpec, model: HuggingFaceModel, strategies: Strategies) -> ReferenceTarget:
    """A target from its name and options. Raises UsageError, ModelMissing, ModelRefused or VocabularyMismatch."""
    check(spec)
    options: dict[str, Any] = {
        key: spec.share(key) if key in SHARES else spec.whole(key, 0, least=1)
        for key in spec.options
        if key not in WORDS
    }
    if (kind := caches.named(spec)) != caches.FLOAT:
        options["cache"] = kind
    strategies = verifying.chosen(spec, strategies)
    draft = load_draft(spec, model) if spec.name == "draft" else None
    return ReferenceTarget(
        name=spec.name,
        model=strategies.model(model),
        method=spec.name,
        draft=draft,
        options=options,
        strategies=strategies,
    )


def load_draft(spec: TargetSpec, model: HuggingFaceModel) -> HuggingFaceModel:
    """The draft that the spec names, or the embedded one, in the target's dtype. Raises VocabularyMismatch."""
    folder = spec.options.get("model", str(EMBEDDED / "draft"))
    draft = huggingface.load(folder, model.dtype)
    if not model.speaks_like(draft):
        raise VocabularyMismatch(
            f"draft {Path(folder).name!r} has another vocabulary than the target ({draft.vocabulary} tokens against "
            f"{model.vocabulary}); name a draft of the same family with draft:model=PATH, or use ngram"
        )
    probe(draft)
    return draft


def teacher_forced(
    model: LanguageModel,
    new_cache: CacheFactory,
    requests: Sequence[Request],
    answers: Sequence[Sequence[int]],
    width: int,
) -> list[Logits]:
    """For each answer the logits (tokens, vocabulary) that precede each of its tokens, read through such a cache."""
    cache = new_cache(len(requests))
    first = model.score_last(Block.chains([request.prompt for request in requests]), cache)
    cache.commit([list(range(1, len(request.prompt))) for request in requests])
    found = [[row[None]] for row in first]
    rest = {row: list(answer[:-1]) for row, answer in enumerate(answers)}
    rows = list(rest)
    while True:
        alive = [row for row in rows if rest[row]]
        if not alive:
            return [np.concatenate(parts)[: len(answer)] for parts, answer in zip(found, answers, strict=True)]
        if len(alive) < len(rows):
            cache.select([rows.index(row) for row in alive])
        rows = alive
        blocks = [rest[row][: width or None] for row in rows]
        logits = model.score(Block.chains(blocks), cache)
        cache.commit([list(range(1, len(block))) for block in blocks])
        for place, (row, block) in enumerate(zip(rows, blocks, strict=True)):
            found[row].append(logits[place, : len(block)])
            rest[row] = rest[row][len(block) :]
