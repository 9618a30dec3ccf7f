"""What every observation is made from, and how requests and their seeds follow from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...engine.request import Request, Sampling
from ...suites.suite import Canary, Cell, Suite
from ..contracts import KEPT, Arm, Replay, demanded

GREEDY = Sampling()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A suite, the two arms, and the seed from which all chance of the run follows."""

    suite: Suite
    baseline: Arm
    candidate: Arm
    seed: int

    @property
    def demanded(self) -> str:
        """What the suite calls the lists of what must be passed here."""
        return demanded(self.candidate.kind, kept=KEPT in self.baseline.capabilities)

    @property
    def in_turn(self) -> bool:
        """Whether only one of the arms is up at a time, so that each change of arms is a launch."""
        return "launching" in self.candidate.capabilities

    def requests(self, canaries: Sequence[Canary], *, tokens: int, sampling: Sampling, label: str) -> list[Request]:
        """One request a canary; `label` keeps the chance of two uses apart."""
        return [
            Request(
                name=canary.id,
                prompt=self.baseline.encode(canary.messages),
                max_tokens=tokens,
                sampling=sampling,
                eos=self.baseline.eos,
                seed=seed_of(self.seed, label, canary.id),
            )
            for canary in canaries
        ]

    def check_prompts(self) -> None:
        """Raises before anything is recorded where a canary cannot be asked: its context, its turns, its template."""
        for cell in self.suite.cells:
            canaries = self.suite.canaries_for(cell)
            for request in self.requests(canaries, tokens=cell.tokens, sampling=sampling_of(cell), label="check"):
                self.baseline.check(request)
        numbers = self.suite.conversation
        if numbers:  # the answers to come may be as long as the suite lets them
            tokens = numbers.turns * numbers.tokens
            for request in self.requests(self.suite.dialogues, tokens=tokens, sampling=GREEDY, label="check"):
                self.baseline.check(request)


def sampling_of(cell: Cell) -> Sampling:
    """The cell's sampling parameters."""
    return Sampling(temperature=cell.temperature, top_k=cell.top_k, top_p=cell.top_p, min_p=cell.min_p)


def seed_of(run: int, *labels: object) -> int:
    """A 63-bit seed that depends on the run's seed and the labels only."""
    text = "/".join(map(str, (run, *labels)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def replay_json(replay: Replay) -> dict[str, Any]:
    """A replay as plain lists."""
    return {name: list(values) for name, values in replay._asdict().items()}
