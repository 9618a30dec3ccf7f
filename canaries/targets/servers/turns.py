"""Two arms of which one is up at a time: to ask an arm something stops the other one's server and launches its own.

What a server says of itself is kept from its first launch, so that nothing need be launched merely to be told again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self, cast

from .config import ArmConfig
from .openai import OpenAI
from .registry import APIS
from .server import Server
from .switches import Found
from .target import ServerTarget

Opening = Callable[[], AbstractContextManager[Server]]


class Learnt(NamedTuple):
    """What a server told of itself when it was first launched."""

    identity: dict[str, Any]
    switches: list[Found]


class Turns:
    """The place that the arms share. Use as a context manager: whatever is up has ended afterwards.

    Each of `openings` launches its arm's server. Raises ServerError as they do; a death is told by whoever died.
    """

    def __init__(self, openings: Mapping[str, Opening]) -> None:
        self._openings, self._stack = openings, ExitStack()
        self._learnt: dict[str, Learnt] = {}
        self._down()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def _down(self) -> None:
        """No server is up."""
        self._role: str | None = None
        self._block: int | None = None
        self._stack.close()

    def server(self, role: str) -> Server:
        """The arm's server, up; the other one's is not."""
        if not self.holds(role):
            self._down()
            began = time.time()
            self._up = self._stack.enter_context(self._openings[role]())
            self._role, self._began = role, began
        return self._up

    def standing(self, role: str, config: ArmConfig) -> Server:
        """What stands for the arm's server, whether or not it is up."""
        return cast("Server", _Server(self, role, APIS[config.server]))

    def holds(self, role: str) -> bool:
        """Whether the arm's server is the one that is up."""
        return self._role == role

    def launch(self, role: str, block: int) -> float:
        """The arm's server is up, in a launch that answered no other block; returns when it began, in epoch seconds."""
        if self.holds(role) and self._block not in (None, block):
            self._down()
        self.server(role)
        self._block = block
        return self._began

    def learnt(self, role: str) -> Learnt:
        """What the arm's server told of itself at its first launch."""
        if role not in self._learnt:
            server = self.server(role)
            self._learnt[role] = Learnt(server.identity(), server.switches())
        return self._learnt[role]


class _Server:
    """Asks its arm's server whatever it is asked, but for what is known already."""

    def __init__(self, turns: Turns, role: str, api: OpenAI) -> None:
        self._turns, self._role, self.api = turns, role, api

    def identity(self) -> dict[str, Any]:
        return self._turns.learnt(self._role).identity

    def switches(self) -> list[Found]:
        return self._turns.learnt(self._role).switches

    def alive(self) -> bool:
        """A server that is not up, or was not yet, cannot have been lost."""
        return not self._turns.holds(self._role) or self._turns.server(self._role).alive()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._turns.server(self._role), name)


@dataclass(frozen=True, kw_only=True)
class InTurn(ServerTarget):
    """A server arm that is up only while it is asked."""

    turns: Turns

    capabilities = ServerTarget.capabilities | {"launching"}

    def launch(self, block: int) -> float:
        """A launch that answered no other block is up; returns when it began, in epoch seconds."""
        return self.turns.launch(self.role, block)
