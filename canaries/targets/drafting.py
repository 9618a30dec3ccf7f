"""The drafter of each method of the reference engine, made for one of its arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...engine.drafters.base import Drafter
from ...engine.drafters.draft_model import DraftModel
from ...engine.drafters.ngram import NGram
from ...engine.drafters.synthetic import Adversary, Branches, OddEven, Oracle, Uniform
from ..errors import UsageError

if TYPE_CHECKING:
    from .reference import ReferenceTarget


def _draft_model(arm: ReferenceTarget) -> Drafter:
    if arm.draft is None:
        raise UsageError("target 'draft' has no draft model here; name one with draft:model=PATH")
    parts, confidence = arm.strategies, arm.options.get("confidence", 0.0)
    return parts.draft_model(arm.draft, arm.draft_length, parts.draft_cache, confidence)


def _ngram(arm: ReferenceTarget) -> Drafter:
    reach = {key: arm.options[key] for key in ("longest", "shortest") if key in arm.options}
    return NGram(arm.model.vocabulary, arm.draft_length, **reach)


def _informed(drafter: type[Oracle]) -> Callable[[ReferenceTarget], Drafter]:
    """A drafter that knows the plain answers; without them it knows none."""
    return lambda arm: drafter(arm.model.vocabulary, arm.draft_length, arm.options.get("answers", {}))


DRAFTERS: Mapping[str, Callable[[ReferenceTarget], Drafter]] = {
    "draft": _draft_model,
    "ngram": _ngram,
    "self": lambda arm: DraftModel(arm.model, arm.draft_length, arm.new_cache(arm.model.positions)),
    "uniform": lambda arm: Uniform(arm.model.vocabulary, arm.draft_length),
    "oracle": _informed(Oracle),
    "odd-even": _informed(OddEven),
    "adversary": _informed(Adversary),
    "branches": _informed(Branches),
}
TREES = frozenset({"branches"})  # methods whose drafts branch
