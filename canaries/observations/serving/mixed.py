"""Rows of every kind in one batch: greedy and sampled, of other draft lengths, limits and ends.

Greedy rows must be what plain decoding answers under the same limit and stop strings; sampled rows must follow their
own law, not their neighbour's. Each row is judged by its own parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.request import Request, Sampling
from ....engine.scheduling.job import Job
from ....suites.served import Serving
from ....suites.suite import Suite
from ..context import Context, replay_json, seed_of
from ..replays import noise
from .played import alone, company, document, load, session, variant

if TYPE_CHECKING:
    from ....suites.suite import Canary

SHORTER = 2  # every so manieth row has a limit that is half of the others'


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """What one row asks for. `draft_length` None: as many as the drafter gives."""

    canary: Canary
    tokens: int
    stop: tuple[str, ...]
    draft_length: int | None
    sampling: Sampling

    @property
    def greedy(self) -> bool:
        """Whether its tokens are known."""
        return self.sampling.temperature == 0


def rows(suite: Suite, numbers: Serving, draft_length: int) -> list[Mixed]:
    """The rows of one batch: every other one is sampled.

    Draft lengths go from none to the candidate's; of every four rows two have half the limit; greedy copies of
    identifiers end at their third.
    """
    laws = cycle(Sampling(temperature=t, top_k=k, top_p=p, min_p=m) for t, k, p, m in numbers.samplings)
    found = []
    for number, canary in enumerate(company(suite, numbers, numbers.prompts)):
        greedy = number // 2 % 2 == 0  # identifiers and others in turn are greedy, then sampled
        opaque = canary.kind == "identifiers"
        found.append(
            Mixed(
                canary=canary,
                tokens=numbers.tokens // (SHORTER if greedy and not opaque else 1),
                stop=(str(canary.expect).split(" ")[2],) if greedy and opaque else (),
                draft_length=(None, *range(draft_length + 1))[number % (draft_length + 2)],
                sampling=Sampling() if greedy else next(laws),
            )
        )
    return found


def parameters(context: Context, numbers: Serving) -> dict[str, Any]:
    """Greedy rows as variants, one label a batch; sampled rows with replays in their own law."""
    listed = rows(context.suite, numbers, context.candidate.draft_length)
    greedy = [_request(context, one, 0) for one in listed if one.greedy]
    plain, found = alone(context.baseline, greedy), {}
    sampled: list[dict[str, Any]] = []
    measured = noise(context, [(request, plain[request.name].tokens) for request in greedy])
    slack = context.suite.noise.fork_multiple * max(measured["logits"].values())
    for batch in range(1, numbers.draws + 1):
        asked = [_request(context, one, batch) for one in listed]
        jobs = [Job(request=r, draft_length=one.draft_length) for r, one in zip(asked, listed, strict=True)]
        served = session(context.candidate, load(numbers, batch=numbers.prompts)).serve(jobs)
        stopped = sum(generation.finish == "stop" for generation in served.generations)
        found[f"batch {batch}"] = variant(context.baseline, greedy, plain, served, stopped=stopped)
        drawn = [
            (r, generation)
            for r, one, generation in zip(asked, listed, served.generations, strict=True)
            if not one.greedy
        ]
        sampled += _replayed(context, drawn, slack)
    return document(plain, found) | {"sampled": sampled}


class Names(NamedTuple):
    """Who answers: greedy rows of one batch, and sampled ones of all, in the order of the record."""

    greedy: list[str]
    sampled: list[str]


def expected(suite: Suite, numbers: Serving, draft_length: int) -> Names:
    """The names that an observation must have."""
    listed = rows(suite, numbers, draft_length)
    drawn = [one.canary.id for one in listed if not one.greedy]
    return Names([one.canary.id for one in listed if one.greedy], drawn * numbers.draws)


def _request(context: Context, one: Mixed, batch: int) -> Request:
    return Request(
        name=one.canary.id,
        prompt=context.baseline.encode(one.canary.messages),
        max_tokens=one.tokens,
        sampling=one.sampling,
        eos=context.baseline.eos,
        stop=one.stop,
        seed=seed_of(context.seed, "mixed", batch, one.canary.id),
    )


def _replayed(context: Context, drawn: Sequence[tuple[Request, Any]], slack: float) -> list[dict[str, Any]]:
    """Each sampled answer beside its replay."""
    replays = context.baseline.score(
        [request for request, _ in drawn], [answer.tokens for _, answer in drawn], width=0, slack=slack
    )
    return [
        {"generation": answer.to_json(), "replay": replay_json(replay)}
        for (_, answer), replay in zip(drawn, replays, strict=True)
    ]
