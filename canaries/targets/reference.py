"""The reference engine as a target: both arms in this process, on one set of weights.

Builds decoders from a method's name and options; teacher-forces answers; lets the gate turn the knobs and exchange the
models while verifier, cache and chance stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...engine.cache.contiguous import ContiguousCache
from ...engine.decoding.conversation import Conversation
from ...engine.decoding.plain import PlainDecoder
from ...engine.decoding.prefill import refuse
from ...engine.decoding.speculative import SpeculativeDecoder
from ...engine.drafters.base import Drafter
from ...engine.drafters.draft_model import DraftModel
from ...engine.drafters.ngram import NGram
from ...engine.drafters.synthetic import Adversary, OddEven, Oracle, Uniform
from ...engine.errors import VocabularyMismatch
from ...engine.models import huggingface
from ...engine.models.base import Block, LanguageModel, Logits
from ...engine.models.huggingface import HuggingFaceModel
from ...engine.models.probe import probe
from ...engine.request import Generation, Request
from ...engine.verification.batched import BatchedLossless
from ..contracts import Replay, Shape
from ..errors import UsageError
from .registry import TARGETS
from .replaying import first_law, scored, stepped_shapes
from .spec import TargetSpec
from .strategies import Strategies

EMBEDDED = Path(huggingface.__file__).parent / "embedded"
DRAFT_LENGTH = 4


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
    capabilities = frozenset({"forks", "knobs", "synthetic", "law", "conversation"})

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
        return self._decoder().generate(requests)

    def dialogue(self) -> Conversation:
        """A conversation on a live cache, nothing said yet."""
        return Conversation(self._decoder())

    def _decoder(self) -> PlainDecoder | SpeculativeDecoder:
        if self.method == "plain":
            return PlainDecoder(model=self.model)
        return SpeculativeDecoder(
            model=self.model,
            drafter=self._drafter(),
            verifier=self.strategies.verifier,
            new_cache=self.strategies.new_cache,
            randomness=self.strategies.randomness,
            law=self.strategies.law,
            new_answer=self.strategies.new_answer,
        )

    def score(
        self, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
    ) -> list[Replay]:
        """Teacher-forces the answers through the model alone, in passes of `width` tokens; 0 means in one pass."""
        return scored(partial(teacher_forced, self.model), requests, answers, width=width, slack=slack)

    def shapes(self, widths: Sequence[int]) -> tuple[Shape, ...]:
        """Every verify width beside passes of one token, in a batch; and alone."""
        return stepped_shapes(widths)

    def next_law(self, requests: Sequence[Request]) -> list[Mapping[int, float] | None]:
        """The law of each answer's first token."""
        return [first_law(partial(teacher_forced, self.model), request) for request in requests]

    def variant(self, method: str, **options: Any) -> ReferenceTarget:
        """The same engine with another drafter or another draft length."""
        return replace(self, name=method, method=method, options={**self.options, **options})

    def on(self, target_model: LanguageModel, draft_model: LanguageModel) -> ReferenceTarget:
        """The same engine with its models exchanged."""
        return replace(self, model=target_model, draft=draft_model)

    def recorded_logits(self, request: Request, answer: Sequence[int]) -> tuple[Logits, Logits]:
        """Logits (tokens, vocabulary) of target and draft before each token; without a draft, a flattened target."""
        (target,) = teacher_forced(self.model, [request], [answer], 0)
        if self.draft is None:
            return target, target * np.float32(0.5)
        (draft,) = teacher_forced(self.draft, [request], [answer], 0)
        return target, draft

    @property
    def draft_length(self) -> int:
        """How many tokens a round proposes at most; 0 for plain decoding."""
        return 0 if self.method == "plain" else int(self.options.get("k", DRAFT_LENGTH))

    @property
    def label(self) -> str:
        """The arm as it is named on the command line: `plain`, `draft:k=4`."""
        if self.method == "plain":
            return self.method
        shown = {"k": self.draft_length} | {k: v for k, v in self.options.items() if isinstance(v, int | str)}
        if isinstance(self.strategies.verifier, BatchedLossless):
            shown["verify"] = "batched"
        return f"{self.method}:" + ",".join(f"{key}={value}" for key, value in shown.items())

    def identity(self) -> dict[str, Any]:
        """Effective configuration and digests."""
        parts = {
            "verifier": type(self.strategies.verifier).__name__,
            "cache": getattr(self.strategies.new_cache, "__name__", type(self.strategies.new_cache).__name__),
            "randomness": type(self.strategies.randomness).__name__,
        }
        described = {
            "name": self.label,
            "method": self.method,
            "guarantee": self.guarantee,
            "model": self.model.identity(),
        }
        if self.method == "plain":
            return described
        options = {key: value for key, value in self.options.items() if isinstance(value, int | str)}
        draft = self.draft.identity() if self.draft is not None and self.method == "draft" else None
        return described | {"options": options | {"k": self.draft_length}, "draft": draft} | parts

    def _drafter(self) -> Drafter:
        return DRAFTERS[self.method](self)


def _draft_model(arm: ReferenceTarget) -> Drafter:
    if arm.draft is None:
        raise UsageError("target 'draft' has no draft model here; name one with draft:model=PATH")
    return arm.strategies.draft_model(arm.draft, arm.draft_length)


def _ngram(arm: ReferenceTarget) -> Drafter:
    reach = {key: arm.options[key] for key in ("longest", "shortest") if key in arm.options}
    return NGram(arm.model.vocabulary, arm.draft_length, **reach)


def _informed(drafter: type[Oracle]) -> Callable[[ReferenceTarget], Drafter]:
    """A drafter that knows the plain answers; without them it knows none."""
    return lambda arm: drafter(arm.model.vocabulary, arm.draft_length, arm.options.get("answers", {}))


DRAFTERS: Mapping[str, Callable[[ReferenceTarget], Drafter]] = {
    "draft": _draft_model,
    "ngram": _ngram,
    "self": lambda arm: DraftModel(arm.model, arm.draft_length),
    "uniform": lambda arm: Uniform(arm.model.vocabulary, arm.draft_length),
    "oracle": _informed(Oracle),
    "odd-even": _informed(OddEven),
    "adversary": _informed(Adversary),
}


def check(spec: TargetSpec) -> TargetSpec:
    """The spec itself, once its name and options are known to exist: before any weights are read."""
    row = TARGETS.get(spec.name)
    if row is None or not row.candidate or row.kind != "reference":
        known = ", ".join(name for name, other in TARGETS.items() if other.candidate)
        raise UsageError(f"unknown target {spec.name!r}; targets: {known}")
    spec.refuse_unknown(row.options)
    if spec.options.get("verify", "walk") not in ("walk", "batched"):
        raise UsageError(f"{spec.name}:verify={spec.options['verify']} is not known; use walk or batched")
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
        key: spec.whole(key, 0, least=1) for key in spec.options if key not in ("model", "verify")
    }
    if spec.options.get("verify") == "batched":
        strategies = replace(strategies, verifier=BatchedLossless())
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
    model: LanguageModel, requests: Sequence[Request], answers: Sequence[Sequence[int]], width: int
) -> list[Logits]:
    """For each answer the logits (tokens, vocabulary) that precede each of its tokens."""
    cache = ContiguousCache(len(requests))
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
