"""Writes down what a baseline is asked and what it answers; and a candidate that says nothing, to be run beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ...engine.request import Generation, Request
from ..contracts import KEPT, Arm, Replay, Shape, Watched
from .tape import key

if TYPE_CHECKING:
    from ..contracts import Telling

NEVER_KEPT = frozenset({"forks", "chat"})  # what a baseline that is on a tape cannot do, whatever the one asked could


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """A baseline, asked through this. Every answer is put into `calls`, as a tape holds it.

    What is scored, and laws, are kept request by request, so that they are found again in other company.
    """

    inner: Arm
    calls: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The baseline's."""
        return self.inner.name

    @property
    def kind(self) -> str:
        """The baseline's."""
        return self.inner.kind

    @property
    def guarantee(self) -> str:
        """The baseline's."""
        return self.inner.guarantee

    @property
    def capabilities(self) -> frozenset[str]:
        """The baseline's, all in this process: what a fork is told is not written down."""
        return self.inner.capabilities - NEVER_KEPT | {KEPT}

    @property
    def unseen(self) -> tuple[str, ...]:
        """The baseline's."""
        return self.inner.unseen

    @property
    def eos(self) -> tuple[int, ...]:
        """The baseline's."""
        return self.inner.eos

    @property
    def draft_length(self) -> int:
        """The baseline's."""
        return self.inner.draft_length

    def document(self) -> dict[str, Any]:
        """What the baseline is."""
        own = ("name", "kind", "guarantee", "capabilities", "unseen", "eos")
        return {name: getattr(self, name) for name in own} | {"identity": self.inner.identity()}

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation; what a template gives is written down once."""
        ids = self.inner.encode(messages)
        self.calls[key("encode", messages)] = [ids]
        return ids

    def check(self, request: Request) -> None:
        """Raises what the baseline does."""
        self.inner.check(request)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests."""
        made = self.inner.generate(requests)
        self._keep(asked("generate", requests), [generation.to_json() for generation in made])
        return made

    def watch(self, requests: Sequence[Request]) -> Watched:
        """The answers, on the clock, with what was counted."""
        watched = cast("Telling", self.inner).watch(requests)
        made = [generation.to_json() for generation in watched.generations]
        self._keep(asked("watch", requests), watched._asdict() | {"generations": made})
        return watched

    def score(
        self, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
    ) -> list[Replay]:
        """Teacher-forces the answers that have tokens: of others there is nothing to say."""
        rows = [(request, answer) for request, answer in zip(requests, answers, strict=True) if len(answer)]
        told = self.inner.score([r for r, _ in rows], [a for _, a in rows], width=width, slack=slack) if rows else []
        for (request, answer), replay in zip(rows, told, strict=True):
            self._keep(scored(request, width), {"answer": answer, "slack": slack, "replay": replay._asdict()})
        found = iter(told)
        return [next(found) if len(answer) else Replay((), (), (), (), ()) for answer in answers]

    def shapes(self, widths: Sequence[int]) -> tuple[Shape, ...]:
        """The passes that are held against each other for the noise."""
        shapes = self.inner.shapes(widths)
        self.calls[key("shapes")] = [[list(shape) for shape in shapes]]
        return shapes

    def next_law(self, requests: Sequence[Request]) -> list[Mapping[int, float] | None]:
        """The law of each answer's first token."""
        laws = self.inner.next_law(requests)
        for request, law in zip(requests, laws, strict=True):
            self._keep(first(request), None if law is None else sorted(law.items()))
        return laws

    def configuration(self) -> dict[str, Any]:
        """All that the baseline reports of itself."""
        told = cast("Telling", self.inner).configuration()
        self._keep(key("configuration"), told)
        return told

    def identity(self) -> dict[str, Any]:
        """The baseline's."""
        return self.inner.identity()

    def _keep(self, name: str, told: Any) -> None:
        self.calls.setdefault(name, []).append(told)


@dataclass(frozen=True, kw_only=True)
class Silent(Recorder):
    """In the candidate's place where a baseline is recorded: of its kind, its width one of the suite's. Says nothing.

    So the baseline is asked all that a run will ask, and nothing about answers that are not there yet.
    """

    width: int

    @property
    def capabilities(self) -> frozenset[str]:
        """What a candidate of this kind can do where the baseline is asked for it."""
        return self.inner.capabilities - {"forks"}

    @property
    def draft_length(self) -> int:
        """So many that verifying them is a pass of `width`."""
        return self.width - 1

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """No token to any of them."""
        return [
            Generation(name=request.name, tokens=(), text="", finish="length", prefill=0, arrivals=())
            for request in requests
        ]

    def watch(self, requests: Sequence[Request]) -> Watched:
        """No token, and nothing counted."""
        return Watched(0.0, self.generate(requests), {"window": {}, "each": [None] * len(requests)})

    def configuration(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def variant(self, method: str, **options: Any) -> Silent:
        """Itself, whatever drafts."""
        del method, options
        return self


def asked(method: str, requests: Sequence[Request]) -> str:
    """What answers to a batch are found by."""
    return key(method, [asdict(request) for request in requests])


def scored(request: Request, width: int) -> str:
    """What the scores of all answers to a request are found by."""
    return key("score", request.prompt, asdict(request.sampling), width)


def first(request: Request) -> str:
    """What the law after a prompt is found by."""
    return key("law", request.prompt, asdict(request.sampling))
