"""What a plant is: a row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..targets.strategies import Strategies


@dataclass(frozen=True, slots=True)
class Plant:
    """One row: where the function lives that plants it, what it does, and what the gate must answer.

    A `shared` one is planted in both arms: it changes the target that they have in common. One that shows under load
    only names the `suite` that it must be run on; any will do for the others.
    """

    code: str
    name: str
    where: str
    summary: str
    expected: str
    seen_by: str
    shared: bool = False
    suite: str = ""

    def apply(self, strategies: Strategies) -> Strategies:
        """The strategies with the plant among them."""
        module, function = self.where.split(":")
        planted: Strategies = getattr(import_module(module, __package__), function)(strategies)
        return planted
