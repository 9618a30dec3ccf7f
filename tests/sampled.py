"""Arms of known laws for the black-box statistics: a table stands for the model, a sketch of it for the draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import observed

from draftgate.canaries import documents
from draftgate.canaries.checks.base import Case
from draftgate.canaries.checks.drawn import Drawn
from draftgate.canaries.checks.registry import CHECKS, judge, ledger
from draftgate.canaries.checks.samples import draws_needed
from draftgate.canaries.contracts import Finding
from draftgate.canaries.observations import samples
from draftgate.canaries.observations.context import Context
from draftgate.canaries.observations.pairs import BASELINE, CANDIDATE
from draftgate.canaries.targets.reference import ReferenceTarget
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.models.table import TableModel, peaked_table
from draftgate.suites import loader
from draftgate.suites.suite import Canary, Cell, Required, Samples, Suite

VOCABULARY, PERIOD, K = 8, 7, 3
CELL = Cell(name="sampled", temperature=0.9, top_k=4, batch=4, prompts=4, tokens=12, repeats=1)
NUMBERS = Samples(
    prompts=3,
    least_open=0.3,
    tokens=3,
    batch=4,
    effect=0.2,
    shared_effect=0.4,
    confidence=0.95,
    false_discovery=0.01,
)
CANARIES = tuple(
    Canary(id=f"prose-{n}", kind="prose", messages=({"role": "user", "content": text},))
    for n, text in enumerate(("abcd", "hgfe", "badc", "ggbb", "dcfa", "ceca"), start=1)
)


@cache
def suite(cell: Cell = CELL, numbers: Samples | None = NUMBERS) -> Suite:
    """One sampled cell that requires this check alone."""
    smoke = loader.load("smoke")
    required = {kind: Required(greedy=("exact_tokens",), sampled=("samples",)) for kind in ("reference", "server")}
    return replace(smoke, canaries=CANARIES, cells=(cell,), samples=numbers, required=required, census=None)


@cache
def tables() -> tuple[TableModel, TableModel]:
    """Target and draft; the draft knows some of the target's law."""
    rng = np.random.default_rng(11)
    logits, other = (peaked_table(VOCABULARY, PERIOD, rng) for _ in range(2))
    return TableModel(logits), TableModel(0.6 * logits + 0.7 * other)


def plain(kind: type[ReferenceTarget] = ReferenceTarget) -> ReferenceTarget:
    """Plain decoding of the table."""
    return kind(name="plain", model=tables()[0])


def drafting(strategies: Strategies | None = None, kind: type[ReferenceTarget] = ReferenceTarget) -> ReferenceTarget:
    """Speculative decoding of the table."""
    target, draft = tables()
    return kind(
        name="draft",
        model=target,
        method="draft",
        draft=draft,
        options={"k": K},
        strategies=strategies or Strategies(),
    )


def context(candidate: Any, baseline: Any = None, *, of: Suite | None = None, seed: int = 0) -> Context:
    """Both arms on the table."""
    return Context(suite=of or suite(), baseline=baseline or plain(), candidate=candidate, seed=seed)


def share(of: Suite) -> float:
    """What each test may spend."""
    return ledger(of, "reference").share("sampled/samples/first")


def observe(made: Context) -> dict[str, Any]:
    """The observation as the design asks for it, as it is read back from a record."""
    numbers, (cell, *_) = made.suite.samples, made.suite.cells
    assert numbers
    found = samples.observe(made, cell, numbers, partial(draws_needed, made.suite, cell, share(made.suite)))
    read: dict[str, Any] = documents.decode(documents.encode(found))
    return read


def case(observation: Any, of: Suite | None = None, seed: int = 0) -> Case:
    """A record of this observation alone."""
    chosen = of or suite()
    return Case(
        suite=chosen,
        cell=chosen.cells[0],
        header=observed.HEADER | {"seed": seed, "eos": []},
        observations={"sampled/samples": observation},
        ledger=ledger(chosen, "reference"),
    )


def judged(observation: Any, of: Suite | None = None, seed: int = 0) -> Finding:
    """What the check says of it."""
    return judge(CHECKS["samples"], case(observation, of, seed))


def finding(candidate: Any, baseline: Any = None, *, of: Suite | None = None, seed: int = 0) -> Finding:
    """What the check says of two arms."""
    return judged(observe(context(candidate, baseline, of=of, seed=seed)), of, seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent(ReferenceTarget):
    """A baseline that tells no law, as a server does that names too few logprobs."""

    def next_law(self, requests: Sequence[Any]) -> list[Any]:
        return [None for _ in requests]

    def score(self, requests: Sequence[Any], answers: Sequence[Any], *, width: int, slack: float) -> list[Any]:
        found = ReferenceTarget.score(self, requests, answers, width=width, slack=slack)
        return [one._replace(below=(np.nan,) * len(one.below), prob=(np.nan,) * len(one.prob)) for one in found]


FIRST, NEXT = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.6, 0.4])
ANSWERS = [(a, b) for a in range(len(FIRST)) for b in range(len(NEXT))]


def drawn(rng: Any, calls: int = 100, rows: int = 4, law: Any = FIRST, candidate: Any = FIRST, **changes: Any) -> Drawn:
    """Answers of two tokens without memory; `law` of the first token is the baseline's, `candidate` the candidate's."""
    masses = {BASELINE: np.outer(law, NEXT).ravel(), CANDIDATE: np.outer(candidate, NEXT).ravel()}
    made = Drawn(
        canary="x",
        law={token: float(mass) for token, mass in enumerate(law) if mass > 0},
        answers=ANSWERS,
        masses=[np.array([law[a], NEXT[b]]) for a, b in ANSWERS],
        ended=np.ones(len(ANSWERS), bool),
        drawn={arm: rng.choice(len(ANSWERS), p=p, size=(calls, rows)) for arm, p in masses.items()},
    )
    return replace(made, **changes)


class Noisy(ReferenceTarget):
    """A baseline whose gaps differ by as much between passes of any two shapes."""

    __slots__ = ()
    error = 3.0

    def score(self, requests: Sequence[Any], answers: Sequence[Any], *, width: int, slack: float) -> list[Any]:
        found = ReferenceTarget.score(self, requests, answers, width=width, slack=slack)
        moved = self.error if width == 5 else 0.0
        return [one._replace(gap=tuple(gap + moved for gap in one.gap)) for one in found]
