"""The nouns of a suite: canaries, cells, and the numbers its checks are designed with.

Every number comes from a frozen `suite.toml`, where its meaning stands beside it. Knows nothing about files and
verdicts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .chat import Chat
    from .served import Serving

KINDS = ("exact", "identifiers", "json", "tools", "code", "multi_turn", "prose")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """One conversation to be continued, and what a right answer is.

    `messages` is all that is visible before the answer; the answer to its last turn is what is asked.

    exact, multi_turn
        The answer is the text `expect`.
    identifiers
        The answer is `expect`: opaque identifiers with one space between them, each judged by itself.
    json
        The answer is JSON that satisfies `schema`.
    tools
        The answer makes the `calls`, in order: each a name and the schema of its arguments. `tools` are those that may
        be called: each a name and the schema of its `parameters`.
    code
        The answer is a Python program that makes every one of `asserts` (`assert EXPRESSION == LITERAL`) true.
    prose
        No answer is right: token parity alone judges it.
    """

    id: str
    kind: str
    messages: tuple[Mapping[str, str], ...]
    expect: str | None = None
    schema: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()
    asserts: tuple[str, ...] = ()


def by_kind(canaries: Iterable[Canary]) -> dict[str, int]:
    """How many there are of each kind, in the order of `KINDS`; kinds that are not there are left out."""
    counts = Counter(canary.kind for canary in canaries)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One setting to be judged. `temperature` 0 is greedy; 0 for `top_k`, 1 for `top_p`, 0 for `min_p` switch off.

    `prompts` canaries are asked for at most `tokens` tokens each, `batch` at a time, in `repeats` interleaved pairs.
    The baseline decodes the first `again` of these groups once more, to be held against itself.
    `effects` replaces effects of the suite's design where the cell is too small for them.
    """

    name: str
    temperature: float
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    batch: int
    prompts: int
    tokens: int
    repeats: int
    again: int = 0
    effects: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def sampling(self) -> tuple[float, ...]:
        """How a token is chosen: cells that differ only in rows, prompts or tokens share it."""
        return self.temperature, self.top_k, self.top_p, self.min_p

    @property
    def greedy(self) -> bool:
        """Whether every token is the most probable one."""
        return self.temperature == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignNumbers:
    """Error rates of a whole run, and the effects that its checks must be able to see."""

    false_alarm: float
    miss: float
    law_effect: float
    own_batch_effect: float
    pit_effect: float
    token_fault_rate: float
    acceptance_effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How far plain decoding may differ from itself, and what that explains."""

    fork_multiple: float
    unstable_above: float
    widths: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """The least number of rounds, for each canary kind and cell, that did each of these."""

    proposed: int
    accepted: int
    rejected: int
    full: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StrikeOut:
    """The least share of a kind's canaries that the baseline must solve."""

    least_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedNumbers:
    """Confidence of the speed interval, and how many bootstrap resamples make it."""

    confidence: float
    resamples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Draft lengths that must not change a greedy answer, and on how much they are tried."""

    draft_lengths: tuple[int, ...]
    prompts: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """Artificial drafters that must not change a greedy answer, and on how much they are tried."""

    drafters: tuple[str, ...]
    prompts: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Shape of the exactly known law that sampled rounds are compared with."""

    draft_length: int
    vocabulary: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Dialogues played on a live cache: `prompts` of them, at most `turns` user turns each, `tokens` at most an answer.

    `effect` is the share of answers from a live cache that a fault must change to be seen.
    """

    prompts: int
    turns: int
    tokens: int
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """What counts as degenerate repetition: at the end, a phrase of `shortest` to `longest` tokens, `times` in a row.

    `effect` is the share of answers that must loop under the candidate alone to be seen.
    """

    shortest: int
    longest: int
    times: int
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Many answers to few prompts: `tokens` tokens each, asked `batch` at a time from either arm.

    `prompts` canaries, each continued from the place in the baseline's greedy answer where its choice is most open:
    where tokens other than the likeliest have a mass of `least_open` at least. `effect` is the total variation, on
    average over prompts, that must be seen in first tokens and in whole answers; `shared_effect` the share of answers
    that repeat another's chance. `confidence` is that of the temperature's interval, `false_discovery` the expected
    share of wrong ones among the places that are named: both are shown and not judged.
    """

    prompts: int
    least_open: float
    tokens: int
    batch: int
    effect: float
    shared_effect: float
    confidence: float
    false_discovery: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How near plain greedy decoding came to a tie when the suite was frozen, in logits.

    A gap is that between the two best tokens. `gaps` has the smallest of each canary's answer of at most `tokens`
    tokens, nearest first; `quantiles` those of all gaps. True of one model, named by `weights_sha256` and `dtype`.
    """

    weights_sha256: str
    dtype: str
    tokens: int
    quantiles: Mapping[str, float]
    gaps: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """Checks that must pass before a cell may: one list for greedy cells, one for sampled ones."""

    greedy: tuple[str, ...]
    sampled: tuple[str, ...]

    def checks_for(self, cell: Cell) -> tuple[str, ...]:
        """Names of the checks that `cell` must pass."""
        return self.greedy if cell.greedy else self.sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Everything one run asks and is designed with. `digest` is its identity; `required` is keyed by target kind.

    `conversation`, `loops`, `samples`, `chat` and `serving` are None in suites that do not require these checks,
    `census` where none was taken.
    """

    name: str
    version: str
    purpose: str
    digest: str
    folder: Path
    canaries: tuple[Canary, ...]
    cells: tuple[Cell, ...]
    design: DesignNumbers
    noise: Noise
    exercise: Exercise
    strike_out: StrikeOut
    speed: SpeedNumbers
    knobs: Knobs
    synthetic: Synthetic
    law: Law
    required: Mapping[str, Required]
    conversation: Conversation | None = None
    loops: Loops | None = None
    samples: Samples | None = None
    chat: Chat | None = None
    serving: Serving | None = None
    census: Census | None = None

    def of_kind(self, kind: str) -> tuple[Canary, ...]:
        """Canaries of one kind, in file order."""
        return tuple(canary for canary in self.canaries if canary.kind == kind)

    def first(self, count: int) -> tuple[Canary, ...]:
        """The first `count` canaries, kinds taking turns in the order of `KINDS`. Used-up kinds are skipped."""
        turns = chain.from_iterable(zip_longest(*(self.of_kind(kind) for kind in KINDS)))
        return tuple(islice((canary for canary in turns if canary is not None), count))

    def law_cell(self, cell: Cell) -> Cell:
        """The first cell with this one's sampling parameters: known laws are drawn there, once for all such cells."""
        return next(other for other in self.cells if other.sampling == cell.sampling)

    def canaries_for(self, cell: Cell) -> tuple[Canary, ...]:
        """The canaries that `cell` asks."""
        return self.first(cell.prompts)

    def design_of(self, cell: Cell) -> DesignNumbers:
        """The numbers that `cell` is designed with: the suite's, but for the cell's own effects."""
        return replace(self.design, **cell.effects)

    @property
    def dialogues(self) -> tuple[Canary, ...]:
        """The canaries that are played on a live cache."""
        return self.of_kind("multi_turn")[: self.conversation.prompts] if self.conversation else ()
