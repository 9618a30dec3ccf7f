"""Plays a tape: a baseline that was recorded, in the place of one that is there.

It is what it was, and knows no more than it was asked: a score of another answer holds as far as that answer is one
that was scored, and behind that no number stands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ...engine.request import Generation, Request
from ...engine.sequences import shared_length
from ..contracts import KEPT, Replay, Shape, Watched
from ..errors import RecordBroken
from .recording import NEVER_KEPT, asked, first, scored
from .tape import AGAIN, Tape, key


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The baseline on a tape. What was asked several times is answered in that order, the last answer standing."""

    tape: Tape
    name: str
    kind: str
    guarantee: str
    capabilities: frozenset[str]
    unseen: tuple[str, ...]
    eos: tuple[int, ...]
    _played: Counter[str] = field(default_factory=Counter, repr=False)

    draft_length = 0

    @classmethod
    def on(cls, tape: Tape) -> Kept:
        """The baseline that is on the tape."""
        arm = tape.arm
        return cls(
            tape=tape,
            **{name: arm[name] for name in ("name", "kind", "guarantee")},
            capabilities=frozenset(arm["capabilities"]) - NEVER_KEPT | {KEPT},
            unseen=tuple(arm["unseen"]),
            eos=tuple(arm["eos"]),
        )

    def identity(self) -> dict[str, Any]:
        """The baseline's, and what it is kept on."""
        made = {name: self.tape.made[name] for name in ("draftgate", "recorded")}
        return dict(self.tape.arm["identity"]) | {"kept": made | {"sha256": self.tape.sha256}}

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation of the suite."""
        with self._reading("a prompt"):
            return tuple(self._told(key("encode", messages), "a prompt"))

    def check(self, request: Request) -> None:
        """Nothing: it was checked when it was recorded."""

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """The answers, as they came."""
        with self._reading("answers"):
            return _answers(requests, self._told(asked("generate", requests), "answers"))

    def watch(self, requests: Sequence[Request]) -> Watched:
        """The answers with the clock and the counters of then."""
        with self._reading("answers"):
            told = self._told(asked("watch", requests), "answers")
            return Watched(told["wall"], _answers(requests, told["generations"]), told["counters"])

    def score(
        self, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
    ) -> list[Replay]:
        """What was scored; of another answer what is known of it, and NaN."""
        with self._reading("scores"):
            return [
                self._scored(scored(request, width), tuple(answer), slack)
                for request, answer in zip(requests, answers, strict=True)
            ]

    def _scored(self, name: str, answer: tuple[int, ...], slack: float) -> Replay:
        rows = self.tape.calls.get(name, [])
        same = [row for row in rows if tuple(row["answer"]) == answer and row["slack"] == slack]
        if same:
            return _replay(self._turn(f"{name}/{key('answer', answer, slack)}", same)["replay"])
        nearest = max(rows, key=lambda row: shared_length(row["answer"], answer), default=None)
        if nearest is None:
            return _begun(Replay((), (), (), (), ()), 0, len(answer))
        return _begun(_replay(nearest["replay"]), shared_length(nearest["answer"], answer), len(answer))

    def shapes(self, widths: Sequence[int]) -> tuple[Shape, ...]:
        """Those that were measured, whatever widths a candidate has."""
        del widths
        with self._reading("the noise"):
            yardstick, other, *more = (Shape(*shape) for shape in self._told(key("shapes"), "the noise"))
            return yardstick, other, *more

    def next_law(self, requests: Sequence[Request]) -> list[Mapping[int, float] | None]:
        """The laws that were told; None where none was asked for."""
        with self._reading("laws"):
            told = [self._turn(name, self.tape.calls.get(name, [])) for name in map(first, requests)]
            return [None if law is None else {int(token): float(mass) for token, mass in law} for law in told]

    def configuration(self) -> dict[str, Any]:
        """All that the baseline reported of itself."""
        with self._reading("its configuration"):
            return dict(self._told(key("configuration"), "its configuration"))

    def _turn(self, name: str, told: Sequence[Any]) -> Any:
        """The next of several answers to one thing; None where it was never asked."""
        if not told:
            return None
        place = min(self._played[name], len(told) - 1)
        self._played[name] += 1
        return told[place]

    def _told(self, name: str, what: str) -> Any:
        told = self._turn(name, self.tape.calls.get(name, []))
        if told is None:
            version = self.tape.made["draftgate"]
            raise RecordBroken(
                f"the kept baseline, of draftgate {version}, was never asked for {what} of these; {AGAIN}"
            )
        return told

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Raises RecordBroken where what is on the tape has another shape than what is recorded."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            told = f"tells {what} that cannot be read ({type(error).__name__}: {error})"
            raise RecordBroken(
                f"the kept baseline, of draftgate {self.tape.made['draftgate']}, {told}; {AGAIN}"
            ) from None


def _answers(requests: Sequence[Request], told: Sequence[Any]) -> list[Generation]:
    """One answer to each request. Raises what `Generation.from_json` does, and ValueError for more or fewer."""
    return [Generation.from_json(one) for _, one in zip(requests, told, strict=True)]


def _replay(told: Mapping[str, Sequence[Any]]) -> Replay:
    """A replay as it was told; what was no number is none again."""
    fields: Any = {name: tuple(math.nan if one is None else one for one in told[name]) for name in Replay._fields}
    return Replay(**fields)


def _begun(known: Replay, tokens: int, length: int) -> Replay:
    """A replay of `length` tokens, of which the first are known.

    Where they end, how near the two best are is known as well: that does not hang on the token which follows.
    """
    gap = known.gap[: min(tokens + 1, length)]
    fields = {name: getattr(known, name)[:tokens] for name in Replay._fields} | {"gap": gap, "outside": (0,) * length}
    return Replay(**{name: (*told, *(math.nan,) * (length - len(told))) for name, told in fields.items()})
