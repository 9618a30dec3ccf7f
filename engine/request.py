"""What a target is asked and what it answers: the nouns that every arm, real server or reference engine, shares.

Knows nothing about models, torch or how the answer was made.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the next token is chosen. `temperature` 0 is greedy; 0 for `top_k`, 1 for `top_p`, 0 for `min_p` switch off.

    Raises ValueError for a value no law is defined for.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if not self.temperature >= 0 or self.temperature == float("inf"):
            raise ValueError(f"temperature must be a finite number >= 0, not {self.temperature}; use 0 for greedy")
        if self.top_k < 0:
            raise ValueError(f"top_k must be >= 0, not {self.top_k}; use 0 to keep every token")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must lie in (0, 1], not {self.top_p}; use 1 to keep every token")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must lie in [0, 1], not {self.min_p}; use 0 to keep every token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt to be continued.

    `eos` are the ids that end the answer (they are emitted, then nothing follows); `stop` are strings that end it as
    soon as the text holds one. `seed` alone decides this request's chance, whatever else is in the batch.
    """

    name: str
    prompt: tuple[int, ...]
    max_tokens: int
    sampling: Sampling = Sampling()
    eos: tuple[int, ...] = ()
    stop: tuple[str, ...] = ()
    seed: int = 0


class Round(NamedTuple):
    """What one round of drafting and scoring did. Counts of tokens; never fed back into the engine.

    drafted
        How many draft tokens the target was shown.
    accepted
        How many of them it kept.
    emitted
        How many tokens joined the answer: accepted + 1, less `cut`.
    cut
        How many were thrown away because a stop or the limit came first.
    """

    drafted: int
    accepted: int
    emitted: int
    cut: int


class Arrival(NamedTuple):
    """A burst of tokens: seconds since the request was handed over, and how many tokens came."""

    seconds: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One answer, with the evidence of how it came about.

    `finish` is "eos", "stop" or "length". `prefill` is the number of tokens emitted before the first round (0 or 1).
    `rounds` is empty for plain decoding. `len(tokens) == prefill + sum(r.emitted for r in rounds)` for speculative
    arms.
    """

    name: str
    tokens: tuple[int, ...]
    text: str
    finish: str
    prefill: int
    arrivals: tuple[Arrival, ...]
    rounds: tuple[Round, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A document of plain lists and numbers, for the record."""
        return asdict(self) | {"arrivals": [list(a) for a in self.arrivals], "rounds": [list(r) for r in self.rounds]}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Generation:
        """Reads what `to_json` wrote."""
        return cls(
            **document
            | {
                "tokens": tuple(document["tokens"]),
                "arrivals": tuple(Arrival(*a) for a in document["arrivals"]),
                "rounds": tuple(Round(*r) for r in document["rounds"]),
            }
        )
