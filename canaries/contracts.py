"""The nouns of the gate: finding, reason, verdict, and what a target must be able to do.

Knows nothing about torch or about any particular engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..engine.costs.spent import Spent
from ..engine.request import Generation, Request

if TYPE_CHECKING:
    from ..engine.models.base import Block
    from .load import Load, Session

KEPT = "kept"  # what a baseline can do that was recorded, and what its identity is marked by


class Status(StrEnum):
    """What one check found in one cell."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_EXERCISED = "NOT_EXERCISED"
    NOT_APPLICABLE = "NOT_APPLICABLE"


class Reason(StrEnum):
    """Why a result is held. `canaries/reasons.py` says what each means and what to do next."""

    CORRECTNESS = "CORRECTNESS"
    DISTRIBUTION = "DISTRIBUTION"
    METRICS = "METRICS"
    LOSSY_UNDECLARED = "LOSSY_UNDECLARED"
    NOT_EXERCISED = "NOT_EXERCISED"
    BASELINE_UNSTABLE = "BASELINE_UNSTABLE"
    NOT_SPECULATIVE = "NOT_SPECULATIVE"
    SPEED_UNSUPPORTED = "SPEED_UNSUPPORTED"
    INCOMPLETE = "INCOMPLETE"


class Verdict(StrEnum):
    """What may be done with a speed result."""

    PASS = "PASS"  # noqa: S105
    HOLD = "HOLD"
    LOSSY = "LOSSY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found in one cell, with all that a reader needs to weigh and reproduce it.

    `summary` is one line for people. `reason` is the reason a HOLD carries if this finding causes one (None when it
    passed). `evidence` and `design` are the JSON forms of the statistics behind it, `reproduce` the canary ids or seeds
    that show it, `seen` the smallest fault the check would have seen, in words.
    """

    check: str
    cell: str
    status: Status
    summary: str
    reason: Reason | None = None
    evidence: tuple[Mapping[str, Any], ...] = ()
    design: tuple[Mapping[str, Any], ...] = ()
    reproduce: tuple[str, ...] = ()
    seen: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


class Replay(NamedTuple):
    """One answer teacher-forced through a target; each field holds one number a token.

    margin
        Best logit less the logit of the emitted token; 0 where it was the best.
    gap
        Best logit less the second best: the census of margins.
    below
        Mass of the tokens ranked ahead of the emitted one, under the request's own sampling law.
    prob
        Mass of the emitted token under that law.
    outside
        1 where the token lies outside the support even when its edge is moved outwards by the slack, else 0; NaN where
        too little is told to know that of any token.
    """

    margin: tuple[float, ...]
    gap: tuple[float, ...]
    below: tuple[float, ...]
    prob: tuple[float, ...]
    outside: tuple[float, ...]


class Shape(NamedTuple):
    """One way of scoring the same tokens: passes of `width` tokens (0: as the target likes), rows together or not.

    The first of a target's shapes is its yardstick and has no label; what the others differ from it by is its noise.
    """

    label: str
    width: int
    alone: bool


class Watched(NamedTuple):
    """Answers of one batch, what it took on the wall, and what the target counted meanwhile.

    counters
        `window`: over the whole batch, None where the target keeps no totals; `each`: by answer, None where it tells
        none. Each a document of rounds, drafted, accepted and emitted, as far as they are told.
    """

    wall: float
    generations: list[Generation]
    counters: Mapping[str, Any]


class Heard(NamedTuple):
    """What became of one ask: its answers, or the words with which the target refused it, None where it did not."""

    answers: Sequence[Any]
    refused: str | None


class Conversed(NamedTuple):
    """What became of asks that were under way together, in their order, and how many tokens were drafted meanwhile."""

    heard: list[Heard]
    drafted: int | None


class Target(Protocol):
    """The thing under test: one arm. What it can do beside is named in `capabilities`, what it hides in `unseen`.

    "counters": `watch`; "configuration": `configuration`; "chat": `converse`; "knobs", "synthetic": `variant`;
    "costs": `spend`; "law": `on` and `recorded_logits`; "conversation": `dialogue`; "serving": `served`, `windowed`;
    "forks": it may be used in a forked process; "launching": `launch`; "kept": it was recorded and cannot be asked
    anything else.
    """

    name: str
    kind: str
    guarantee: str
    capabilities: frozenset[str]
    unseen: tuple[str, ...]
    eos: tuple[int, ...]
    draft_length: int

    def encode(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Prompt ids of a conversation, the assistant's turn opened."""

    def check(self, request: Request) -> None:
        """Raises an error of one line where the request cannot be served."""

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        """Answers in the order of the requests, decoded as one batch."""

    def identity(self) -> dict[str, Any]:
        """Effective configuration, versions and digests, as plain JSON."""


class Dialogue(Protocol):
    """A conversation whose cache lives from answer to answer; `kept` entries are what the last answer began from."""

    kept: int

    def answer(self, request: Request) -> Generation:
        """The answer to a request whose prompt is the whole visible text."""


class Arm(Target, Protocol):
    """A target that can also be looked into: teacher forcing, knobs, and the same strategies on other models."""

    def score(
        self, requests: Sequence[Request], answers: Sequence[Sequence[int]], *, width: int, slack: float
    ) -> list[Replay]:
        """Teacher-forces the answers in passes of `width` tokens; `slack` widens the support's edge, in logits.

        Masses of a token are NaN where what the target tells does not determine its law.
        """

    def shapes(self, widths: Sequence[int]) -> tuple[Shape, ...]:
        """The passes that are held against each other for the noise, the yardstick first."""

    def next_law(self, requests: Sequence[Request]) -> list[Mapping[int, float] | None]:
        """The law of each answer's first token: what the filters keep, summing to one; None where it is not known."""

    def dialogue(self) -> Dialogue:
        """A conversation with nothing said yet, by the same engine."""

    def variant(self, method: str, **options: Any) -> Arm:
        """The same engine, verifier, cache and chance with another drafter or another draft length."""

    def on(self, target_model: Any, draft_model: Any) -> Arm:
        """The same engine with its models exchanged: for laws that are known exactly."""

    def recorded_logits(self, request: Request, answer: Sequence[int]) -> tuple[Any, Any]:
        """Logits (tokens, vocabulary) of target and draft that precede each token of `answer`."""


def demanded(kind: str, *, kept: bool) -> str:
    """What a suite calls the lists of checks that a target of this kind must pass, beside a baseline that was kept."""
    return f"{KEPT}-{kind}" if kept else kind


class Telling(Arm, Protocol):
    """An arm that keeps counters and reports its configuration, rather than telling its rounds."""

    def watch(self, requests: Sequence[Request]) -> Watched:
        """As `generate`, with what the target counted meanwhile: where it keeps counters rather than rounds."""

    def converse(self, asks: Sequence[Any]) -> Conversed:
        """What became of asks by a server's end points, all under way at once: chat, tools, schemas, logprobs."""

    def configuration(self) -> dict[str, Any]:
        """All that the target reports of itself, and the switches found in it that make a figure unquotable."""


class Hosting(Arm, Protocol):
    """An arm that can be asked under load: many requests on their way at once, in one session after another."""

    vocabulary: int

    def served(self, load: Load) -> Session:
        """A session under this load, with nothing served yet."""

    def scored_behind(self, prompts: Sequence[Sequence[int]], blocks: Sequence[Block], load: Load) -> list[Any]:
        """Logits (rows, nodes, vocabulary) of each block, one after the other behind the prompts; none is kept."""

    def windowed(self, window: int) -> Hosting:
        """The same engine on a model whose layers see `window` tokens: always the embedded family's weights."""


class Costed(Arm, Protocol):
    """An arm whose rounds can be taken apart, and their parts timed."""

    def spend(self, requests: Sequence[Request], answers: Sequence[Sequence[int]], turns: int) -> list[Spent]:
        """What both prefills cost, then so many turns of a plain step and a round behind the answers' tokens."""


class Launching(Arm, Protocol):
    """An arm that shares its place with the other one: only one of them is up at a time."""

    def launch(self, block: int) -> float:
        """A launch that no other block of the run was answered by is up; returns when it began, in epoch seconds."""
