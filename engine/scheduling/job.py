"""What a scheduler is given: requests with the times of their coming and going, and how much it may take on at once."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import EngineError
from ..request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A request as it is served.

    `arrives` is the step before which nobody knows of it; `cancels` the step within which its client goes away, None:
    never. What one tenant's requests leave in the prefix tree no other tenant's meet. `draft_length` is the most
    tokens drafted for it in a round, None: as many as the drafter gives.

    Raises EngineError for a step or a length that cannot be.
    """

    request: Request
    arrives: int = 0
    tenant: str = ""
    draft_length: int | None = None
    cancels: int | None = None

    def __post_init__(self) -> None:
        name = self.request.name
        if self.arrives < 0:
            raise EngineError(f"request {name} arrives at step {self.arrives}; steps are counted from 0")
        if self.cancels is not None and self.cancels < self.arrives:
            raise EngineError(
                f"request {name} arrives at step {self.arrives} and is cancelled at step {self.cancels}; let it arrive "
                "first"
            )
        if self.draft_length is not None and self.draft_length < 0:
            raise EngineError(f"request {name} asks for drafts of {self.draft_length} tokens; ask for at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a scheduler takes on at once.

    `batch` is the most requests under way; `chunk` the most prompt tokens of one request in a step, `tokens` those of
    all requests together. Raises EngineError where one of them lets nothing through.
    """

    batch: int
    chunk: int
    tokens: int

    def __post_init__(self) -> None:
        for name, value in (("batch", self.batch), ("chunk", self.chunk), ("tokens", self.tokens)):
            if value < 1:
                raise EngineError(f"a scheduler with {name} {value} serves nothing; give it at least 1")
