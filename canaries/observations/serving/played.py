"""What every scenario of serving is made of: canaries as jobs, plain answers to them, and what became of them.

Plain decoding answers each request alone, on a fresh cache. Sessions answer them in company. An answer that differs is
replayed through the plain arm, as in every other observation of variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, pairwise, zip_longest
from typing import TYPE_CHECKING, Any, cast

from ....engine.request import Generation, Request
from ....engine.scheduling.job import Job
from ....suites.served import Serving
from ....suites.suite import Canary, Suite
from ...contracts import Arm
from ...load import Load, Session
from ..context import GREEDY, Context
from ..variants import replayed

if TYPE_CHECKING:
    from ....engine.scheduling.records import Served
    from ...contracts import Hosting


def company(suite: Suite, numbers: Serving, count: int) -> tuple[Canary, ...]:
    """The first `count` canaries, every other one of opaque identifiers: each of these has words of its own."""
    opaque = suite.of_kind("identifiers")
    others = [c for c in suite.first(len(suite.canaries)) if c not in opaque and c.id not in numbers.needles]
    turns = chain.from_iterable(zip_longest(opaque, others))
    return tuple(islice((canary for canary in turns if canary is not None), count))


def requests(context: Context, numbers: Serving, count: int) -> list[Request]:
    """Greedy requests of a scenario."""
    canaries = company(context.suite, numbers, count)
    return context.requests(canaries, tokens=numbers.tokens, sampling=GREEDY, label="serving")


def load(numbers: Serving, *, batch: int, **changes: int) -> Load:
    """The suite's load, at this many rows."""
    given = {"chunk": numbers.chunk, "block": numbers.block, "blocks": numbers.blocks}
    return Load(batch=batch, **given | changes)


def session(arm: Arm, given: Load) -> Session:
    """A session of the arm under this load, with nothing served yet."""
    return cast("Hosting", arm).served(given)


def windowed(arm: Arm, numbers: Serving) -> Arm:
    """The same engine on the model whose layers see the suite's window."""
    return cast("Hosting", arm).windowed(numbers.window)


def together(asked: Iterable[Request]) -> list[Job]:
    """One job a request, all there from the first step on."""
    return [Job(request=request) for request in asked]


def staggered(asked: Iterable[Request], at_once: int) -> list[Job]:
    """One job a request, so many of them arriving at each step."""
    return [Job(request=request, arrives=number // at_once) for number, request in enumerate(asked)]


def alone(arm: Arm, asked: Sequence[Request]) -> dict[str, Generation]:
    """What plain decoding answers to each request when it has nothing else to do, by name."""
    return {request.name: generation for request in asked for generation in arm.generate([request])}


def variant(
    baseline: Arm, asked: Sequence[Request], plain: Mapping[str, Generation], served: Served, **also: int
) -> dict[str, Any]:
    """The answers to these requests among all that were served, replays of those that differ, and what was met."""
    by_name = {generation.name: generation for generation in served.generations}
    generations = [by_name[request.name] for request in asked]
    return {
        "generations": [generation.to_json() for generation in generations],
        "replays": replayed(baseline, asked, plain, generations),
        "met": met(served) | also,
    }


def document(plain: Mapping[str, Generation], variants: Mapping[str, Any]) -> dict[str, Any]:
    """The observation of a scenario."""
    return {"plain": [generation.to_json() for generation in plain.values()], "variants": dict(variants)}


def met(served: Served) -> dict[str, int]:
    """How often each thing happened that a scenario may need.

    rows
        The most that had a round together.
    passes
        Steps in which prompt tokens were scored.
    preempted, cancelled
        Requests, each as often as it happened to them.
    hits
        Prompt tokens that were found in the prefix tree.
    crossings
        Times that speculation was switched on or off between two steps with rows.
    left
        Blocks that neither a prefix nor a request holds when all is over.
    """
    drafting = [step.length > 0 for step in served.steps if step.rows]
    return {
        "rows": max((step.rows for step in served.steps), default=0),
        "passes": sum(step.filled > 0 for step in served.steps),
        "preempted": sum(len(step.preempted) for step in served.steps),
        "cancelled": sum(len(step.cancelled) for step in served.steps),
        "hits": sum(sum(step.cached) for step in served.steps),
        "crossings": sum(before != after for before, after in pairwise(drafting)),
        "left": served.left.target - served.left.prefixes + served.left.draft,
    }


def begun(served: Served) -> dict[str, int]:
    """How many tokens each request began with that the prefix tree held, at its first admission."""
    found: dict[str, int] = {}
    for step in served.steps:
        for name, cached in zip(step.admitted, step.cached, strict=True):
            found.setdefault(name, cached)
    return found
