"""The verifiers of the reference engine by name: what `verify=` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...engine.verification.base import Verifier
from ...engine.verification.batched import BatchedLossless
from ...engine.verification.block import Block
from ...engine.verification.lossless import Lossless
from ...engine.verification.traversal import Traversal
from ..errors import UsageError
from .spec import TargetSpec
from .strategies import Strategies

WALK = "walk"
VERIFIERS: Mapping[str, type[Verifier]] = {
    WALK: Lossless,
    "batched": BatchedLossless,
    "block": Block,
    "traversal": Traversal,
}
OF_TREES: Mapping[type[Verifier], type[Verifier]] = {BatchedLossless: Lossless, Block: Traversal}
"""The same rule where a tree branches, of those that take chains only."""


def named(spec: TargetSpec) -> str:
    """The verifier that a target asks for. Raises UsageError for one that there is not."""
    name = spec.options.get("verify", WALK)
    if name not in VERIFIERS:
        *others, last = VERIFIERS
        raise UsageError(f"{spec.name}:verify={name} is not known; use {', '.join(others)} or {last}")
    return name


def chosen(spec: TargetSpec, strategies: Strategies) -> Strategies:
    """The strategies with the verifier that the spec names. Raises UsageError where a fault is planted in another."""
    name = named(spec)
    if name == WALK:
        return strategies
    if type(strategies.verifier) is not Lossless:
        raise UsageError(f"the fault is planted in the verifier {WALK}; it cannot be shown with verify={name}")
    return replace(strategies, verifier=VERIFIERS[name]())


def name_of(verifier: Verifier) -> str | None:
    """What `verify=` calls it; None for the usual one, and for one that has no name."""
    return next((name for name, kind in VERIFIERS.items() if type(verifier) is kind and name != WALK), None)


def for_trees(strategies: Strategies) -> Strategies:
    """The strategies with a verifier that takes trees: itself, or the same rule's."""
    other = OF_TREES.get(type(strategies.verifier))
    return replace(strategies, verifier=other()) if other else strategies
