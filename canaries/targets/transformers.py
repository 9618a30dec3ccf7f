"""Transformers' own `generate` as a target: plain against assisted, both arms in this process, on one set of weights.

Its parts cannot be exchanged, but its rounds are seen, its draft length can be turned, and its own forward pass tells
all logits. Assisted generation takes one request at a time, so that in cells of a batch the two arms differ by that
too: the identity says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ...engine.decoding.prefill import refuse
from ...engine.drafters.base import Drafter
from ...engine.drafters.synthetic import Adversary, OddEven, Oracle, Uniform
from ...engine.errors import ModelRefused, VocabularyMismatch
from ...engine.models import generate, pretrained
from ...engine.models.base import Logits
from ...engine.models.forcing import teacher_forced
from ...engine.models.generate import METHODS, Assistance
from ...engine.models.pretrained import Pretrained
from ...engine.request import Generation, Request
from ..contracts import Dialogue, Replay, Shape, Watched
from ..errors import BrokenAnswer, UsageError
from ..observations.pairs import BASELINE, CANDIDATE
from .reference import DRAFT_LENGTH, EMBEDDED
from .replaying import first_law, scored, stepped_shapes
from .spec import MOST, TargetSpec

NAME = "hf"
TAKES = {
    "plain": (),
    "draft": ("k", "model"),
    "lookup": ("k",),
    "early_exit": ("k", "exit"),
    "universal": ("k", "model"),
}
# How foreign code says that it cannot do what it was asked.
_BREAKS = (LookupError, AttributeError, TypeError, ValueError, RuntimeError, AssertionError)
DRAFTERS: Mapping[str, Callable[[int, int, Any], Drafter]] = {
    "oracle": Oracle,
    "odd-even": OddEven,
    "adversary": Adversary,
    "uniform": lambda vocabulary, k, _: Uniform(vocabulary, k),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformersTarget:
    """One arm of transformers."""

    model: Pretrained
    assistance: Assistance = Assistance()
    spread: int = 1  # most tokens of the target that one of the draft becomes

    name = NAME
    kind = "transformers"
    unseen = ()

    @property
    def guarantee(self) -> str:
        """What the arm promises about its tokens."""
        return "SAME_LAW" if self.assistance.assisted else "SAME_TOKENS"

    @property
    def capabilities(self) -> frozenset[str]:
        """Draft lengths can be turned, and who drafts; a process on the CPU may be forked."""
        return frozenset({"knobs", "synthetic", *(["forks"] if self.model.device.type == "cpu" else [])})

    @property
    def eos(self) -> tuple[int, ...]:
        """Ids that end an answer."""
        return self.model.eos

    @property
    def draft_length(self) -> int:
        """How many tokens a round shows at most; 0 for plain decoding."""
        return min(self.assistance.k * self.spread, MOST)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, the assistant's turn opened."""
        return self.model.encode(messages)

    def check(self, request: Request) -> None:
        """Raises PromptTooLong, EngineError or UsageError where the request cannot be served."""
        refuse(self.model, request)
        if request.stop:
            raise UsageError(f"request {request.name} has stop strings, which are not asked of {NAME}; leave them out")

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests: a batch where plain, one after another where assisted.

        Raises BrokenAnswer where the library raises on what it was asked: it took the request and gave no answer.
        """
        try:
            return generate.generate(self.model, self.assistance, requests)
        except torch.OutOfMemoryError:
            raise
        except _BREAKS as error:
            role = CANDIDATE if self.assistance.assisted else BASELINE
            reason = (str(error).strip().splitlines() or [""])[0]
            raise BrokenAnswer(f"{self.label} raised {type(error).__name__}: {reason}", role) from error

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

    def variant(self, method: str, **options: Any) -> TransformersTarget:
        """The same method at another draft length `k`; or another drafter before the same verifier."""
        k = int(options["k"])
        if method == self.name:
            return replace(self, assistance=replace(self.assistance, k=k))
        if method == "self":
            return replace(self, assistance=Assistance(method="early_exit", k=k, exit=self._layers), spread=1)
        drafter = DRAFTERS[method](self.model.vocabulary, k, options["answers"])
        return replace(self, assistance=Assistance(method="lookup", k=k, drafter=drafter), spread=1)

    @property
    def _layers(self) -> int:
        return int(self.model.model.config.get_text_config().num_hidden_layers)

    def watch(self, requests: Sequence[Request]) -> Watched:
        """Not offered: rounds are told instead."""
        raise NotImplementedError

    def configuration(self) -> dict[str, Any]:
        """Not offered: all of it is in the identity."""
        raise NotImplementedError

    def dialogue(self) -> Dialogue:
        """Not offered: no cache outlives an answer."""
        raise NotImplementedError

    def on(self, target_model: Any, draft_model: Any) -> TransformersTarget:
        """Not offered: the models are the library's own."""
        raise NotImplementedError

    def recorded_logits(self, request: Request, answer: Sequence[int]) -> tuple[Logits, Logits]:
        """Not offered: nothing is drawn on recorded rows."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """The arm as it is named on the command line: `hf`, `hf:method=draft,k=5`."""
        assistance = self.assistance
        if not assistance.assisted:
            return NAME
        leaves = f",exit={assistance.exit}" if assistance.exit else ""
        return f"{NAME}:method={assistance.method},k={assistance.k}{leaves}"

    def identity(self) -> dict[str, Any]:
        """Effective configuration and digests; `model` is what must be the same in both arms."""
        assistance = self.assistance
        model = self.model.identity() | {
            "device": self.model.device.type,
            "attention": str(self.model.model.config._attn_implementation),  # noqa: SLF001 - its only name
        }
        described = {
            "name": self.label,
            "kind": self.kind,
            "method": assistance.method,
            "guarantee": self.guarantee,
            "model": model,
            "batch": "one after another" if assistance.assisted else "left-padded, together",
            "seeds": "one stream of chance a call, begun from the seeds of its requests",
        }
        if not assistance.assisted:
            return described
        leaves = {"exit": assistance.exit} if assistance.exit else {}
        options = {"k": self.draft_length} | leaves | ({"spread": self.spread} if self.spread > 1 else {})
        drafting = {"tokens": assistance.k, "schedule": "constant", "confidence": 0.0}
        draft = assistance.draft.identity() if assistance.draft else None
        return described | {"options": options, "draft": draft, "drafting": drafting}

    def _forced(self, requests: Sequence[Request], answers: Sequence[Sequence[int]], width: int) -> list[Logits]:
        return teacher_forced(self.model, [request.prompt for request in requests], answers, width)


def check(spec: TargetSpec) -> TargetSpec:
    """The spec itself, once its method and options are known to exist: before any weights are read."""
    spec.refuse_unknown(("method", "k", "model", "exit", "device"))
    method = spec.options.get("method", "plain")
    if method not in METHODS:
        raise UsageError(f"{NAME}:method={method} is not known; methods: {', '.join(METHODS)}")
    for key in spec.options.keys() - {"method", "device", *TAKES[method]}:
        raise UsageError(
            f"{NAME}:method={method} takes no {key}; options: {', '.join(TAKES[method]) or 'it takes none'}"
        )
    return spec


def load_target(path: Path, dtype: str = "float32", device: str = "cpu") -> Pretrained:
    """The model that both arms run on. Raises ModelMissing, or UsageError for a device that is not there."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"{NAME}:device={device} cannot be used here ({reason}); name another, or leave it out"
        ) from error
    return pretrained.load(path, getattr(torch, dtype), device)


def build(spec: TargetSpec, model: Pretrained) -> TransformersTarget:
    """A target from its options. Raises UsageError, ModelMissing, ModelRefused or VocabularyMismatch."""
    check(spec)
    method = spec.options.get("method", "plain")
    if method == "plain":
        return TransformersTarget(model=model)
    draft = _draft(spec, method, model) if "model" in TAKES[method] else None
    layer = _exit(spec, model) if method == "early_exit" else 0
    assistance = Assistance(method=method, k=spec.whole("k", DRAFT_LENGTH, least=1), draft=draft, exit=layer)
    wide = generate.spread(model, draft) if method == "universal" and draft else 1
    return TransformersTarget(model=model, assistance=assistance, spread=wide)


def _exit(spec: TargetSpec, model: Pretrained) -> int:
    """The layer after which the model leaves to draft: half of them, where none is named."""
    layers = int(model.model.config.get_text_config().num_hidden_layers)
    layer = spec.whole("exit", layers // 2, least=1)
    if layer >= layers:
        raise UsageError(f"{NAME}:exit={layer} is not one of the first {layers - 1} layers of {layers}; leave earlier")
    if not generate.exits(model, layer):
        raise ModelRefused(
            f"{type(model.model).__name__} runs all its layers whatever its configuration says, so that it cannot "
            f"leave early; use another method"
        )
    return layer


def _draft(spec: TargetSpec, method: str, model: Pretrained) -> Pretrained:
    """The draft model that is named, or the embedded one, in the target's dtype and on its device."""
    if method == "universal" and "model" not in spec.options:
        raise UsageError(f"{NAME}:method=universal needs a draft of another vocabulary; name one with model=PATH")
    path = Path(spec.options.get("model", EMBEDDED / "draft"))
    draft = pretrained.load(path, model.dtype, str(model.device))
    if method == "draft" and not model.speaks_like(draft):
        raise VocabularyMismatch(
            f"draft {path.name!r} has another vocabulary than the target ({draft.vocabulary} tokens against "
            f"{model.vocabulary}); name a draft of the same family with model=PATH, or use method=universal"
        )
    if method == "universal" and draft.vocabulary == model.vocabulary:
        raise VocabularyMismatch(
            f"draft {path.name!r} has as many tokens as the target ({model.vocabulary}), by which transformers takes "
            f"both for one vocabulary; name another draft with model=PATH, or use method=draft"
        )
    return draft
