"""The same greedy requests in all the company that a scheduler may put them in. None of it may change an answer.

Each scenario is an observation of labelled variants, and states for every label what must have happened in it, what
must not, and in which other label the rounds must be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....engine.request import Request, Sampling
from ....engine.scheduling.job import Job
from ....suites.served import Serving
from ....suites.suite import Suite
from ..context import Context
from .played import alone, begun, company, document, load, requests, session, staggered, together, variant, windowed

TRAFFIC = Sampling(temperature=1.0)  # other requests: whatever they draw, it is theirs
SERVING = "serving"  # what the observations of a suite's table of this name begin with
ONE, OTHER = "one", "other"  # tenants


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a variant must have met at least so often, what it must not, and whose rounds it must have."""

    met: Mapping[str, int]
    never: tuple[str, ...] = ()
    as_in: str | None = None


def neighbours(context: Context, numbers: Serving) -> dict[str, Any]:
    """At every batch size of the suite, requests arriving one after the other, prompts in chunks."""
    asked = requests(context, numbers, numbers.prompts)
    plain, found = alone(context.baseline, asked), {}
    for batch in numbers.batches:
        opened = session(context.candidate, load(numbers, batch=batch))
        served = opened.serve(staggered(asked, max(1, batch // numbers.stagger)))
        found[f"batch {batch}"] = variant(context.baseline, asked, plain, served)
    return document(plain, found)


def order(context: Context, numbers: Serving) -> dict[str, Any]:
    """As they are listed, and the other way round; by the candidate's drafter, and by one that looks back."""
    asked = requests(context, numbers, numbers.prompts)
    plain, found = alone(context.baseline, asked), {}
    arms = {"": context.candidate, "ngram, ": context.candidate.variant("ngram", k=context.candidate.draft_length)}
    for who, arm in arms.items():
        for how, listed in (("in order", asked), ("reversed", asked[::-1])):
            served = session(arm, load(numbers, batch=numbers.rows)).serve(together(listed))
            found[f"{who}{how}"] = variant(context.baseline, asked, plain, served)
    return document(plain, found)


def preemption(context: Context, numbers: Serving) -> dict[str, Any]:
    """With blocks for all rows, and with so few that rows give way and come back."""
    asked = requests(context, numbers, numbers.prompts)
    plain, found = alone(context.baseline, asked), {}
    for label, blocks in (("roomy", numbers.blocks), ("tight", numbers.tight)):
        opened = session(context.candidate, load(numbers, batch=numbers.rows, blocks=blocks))
        found[label] = variant(context.baseline, asked, plain, opened.serve(together(asked)))
    return document(plain, found)


def seam(context: Context, numbers: Serving) -> dict[str, Any]:
    """Speculation is switched off and on again in the middle of answers, alone and in a batch."""
    asked = requests(context, numbers, numbers.rows)
    plain, found = alone(context.baseline, asked), {}
    for batch in (1, numbers.rows):
        opened = session(context.candidate, load(numbers, batch=batch, bypass=numbers.bypass))
        found[f"batch {batch}"] = variant(context.baseline, asked, plain, opened.serve(together(asked)))
    return document(plain, found)


def traffic(context: Context, numbers: Serving) -> dict[str, Any]:
    """Call after call in one session, between them other requests of which some are cancelled; then another tenant.

    Plain decoding is served the same, for what it finds in its prefixes.
    """
    asked = requests(context, numbers, numbers.rows)
    plain, found = alone(context.baseline, asked), {}
    opened = session(context.candidate, load(numbers, batch=numbers.rows))
    beside = session(context.baseline, load(numbers, batch=numbers.rows))
    for call in range(1, numbers.calls + 1):
        jobs = [replace(job, tenant=ONE) for job in together(asked)]
        hits = sum(begun(beside.serve(jobs)).values())
        between = opened.serve(_others(context, numbers, call)) if call > 1 else None
        gone = sum(len(step.cancelled) for step in between.steps) if between else 0
        found[f"call {call}"] = variant(
            context.baseline, asked, plain, opened.serve(jobs), plain_hits=hits, gone_before=gone
        )
    jobs = [replace(job, tenant=OTHER) for job in together(asked)]
    found["another tenant"] = variant(context.baseline, asked, plain, opened.serve(jobs))
    return document(plain, found)


def _others(context: Context, numbers: Serving, call: int) -> list[Job]:
    """Sampled requests on other prompts and on the same, every other one cancelled in the middle of its answer."""
    asked = [
        replace(request, name=f"other-{call}/{request.name}", sampling=TRAFFIC, seed=request.seed ^ call)
        for request in requests(context, numbers, numbers.prompts)[numbers.rows // 2 :]
    ]
    return [
        replace(job, tenant=ONE, cancels=job.arrives + numbers.cancels if number % 2 else None)
        for number, job in enumerate(staggered(asked, 1))
    ]


def chained(context: Context, numbers: Serving) -> dict[str, Any]:
    """Second turns: prompts that begin with a first prompt and the answer to it, which the session has just given."""
    first = requests(context, numbers, numbers.rows)
    said = alone(context.baseline, first)
    turns = [one.prompt for one in requests(context, numbers, numbers.prompts)[-len(first) :]]
    asked = [
        replace(request, name=f"{request.name}/2", prompt=(*request.prompt, *said[request.name].tokens, *turn))
        for request, turn in zip(first, turns, strict=True)
    ]
    plain, found = alone(context.baseline, asked), {}
    for batch in (1, numbers.rows):
        opened = session(context.candidate, load(numbers, batch=batch))
        opened.serve(together(first))
        served = opened.serve(together(asked))
        found[f"batch {batch}"] = variant(
            context.baseline, asked, plain, served, resumed=_resumed(first, begun(served))
        )
    return document(plain, found)


def _resumed(first: Sequence[Request], cached: Mapping[str, int]) -> int:
    """How many second turns began from an answer: with more tokens than the prompt before it had."""
    return sum(cached.get(f"{request.name}/2", 0) > len(request.prompt) for request in first)


def needle(context: Context, numbers: Serving) -> dict[str, Any]:
    """Prompts of nearly a thousand tokens; and about the edge of what a layer of a windowed model sees."""
    canaries = {canary.id: canary for canary in context.suite.canaries}
    long = [canaries[name] for name in numbers.needles]
    asked = context.requests(long, tokens=numbers.tokens, sampling=Sampling(), label="needle")
    near = replace(
        context,
        baseline=windowed(context.baseline, numbers),
        candidate=windowed(context.candidate, numbers),
    )
    edged = [
        replace(request, name=f"{request.name}/{length}", prompt=request.prompt[-length:])
        for request in near.requests(long, tokens=numbers.tokens, sampling=Sampling(), label="needle")
        for length in edges(numbers.window)
    ]
    plain = alone(context.baseline, asked) | alone(near.baseline, edged)
    found = {}
    for batch in (1, numbers.rows):
        parts = []
        for arms, listed in ((context, asked), (near, edged)):
            served = session(arms.candidate, load(numbers, batch=batch, blocks=_room(numbers, listed))).serve(
                together(listed)
            )
            parts.append(variant(arms.baseline, listed, plain, served))
        found[f"batch {batch}"] = _joined(*parts)
    return document(plain, found)


def edges(window: int) -> tuple[int, ...]:
    """Prompt lengths about the window: one less, as many, one more, twice as many."""
    return window - 1, window, window + 1, 2 * window


def _room(numbers: Serving, asked: Sequence[Request]) -> int:
    """Blocks in which all of the requests have room at once."""
    longest = max(len(request.prompt) + request.max_tokens for request in asked) + numbers.tokens
    return numbers.blocks + len(asked) * -(-longest // numbers.block)


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two variants as one."""
    return {
        "generations": [*one["generations"], *other["generations"]],
        "replays": one["replays"] | other["replays"],
        "met": {name: count + other["met"][name] for name, count in one["met"].items()},
    }


def asked_for(suite: Suite, numbers: Serving, name: str) -> list[str]:
    """Names of the requests that a scenario answers under every label."""
    if name == "needle":
        return [*numbers.needles, *(f"{one}/{length}" for one in numbers.needles for length in edges(numbers.window))]
    few = name in ("seam", "traffic", "chained")
    listed = [canary.id for canary in company(suite, numbers, numbers.rows if few else numbers.prompts)]
    return [f"{one}/2" for one in listed] if name == "chained" else listed


def labels(numbers: Serving, name: str) -> dict[str, Wanted]:
    """What each variant of a scenario is called and must have met.

    Of n rows that may run together more than the batch size before n must have done so once: answers end at any time.
    """
    rows = {"rows": 2}
    calls = {
        f"call {call}": Wanted(met={"hits": 1, "gone_before": 1}, as_in="call 1")
        for call in range(2, numbers.calls + 1)
    }
    least = min(numbers.batches)
    table = {
        "neighbours": {
            f"batch {n}": Wanted(
                met={"rows": max((m + 1 for m in numbers.batches if m < n), default=1), "passes": 2},
                as_in=None if n == least else f"batch {least}",
            )
            for n in numbers.batches
        },
        "order": {
            "in order": Wanted(met=rows),
            "reversed": Wanted(met=rows, as_in="in order"),
            "ngram, in order": Wanted(met=rows),
            "ngram, reversed": Wanted(met=rows, as_in="ngram, in order"),
        },
        "preemption": {"roomy": Wanted(met=rows), "tight": Wanted(met={"preempted": 1}, as_in="roomy")},
        "seam": {"batch 1": Wanted(met={"crossings": 2}), f"batch {numbers.rows}": Wanted(met={"crossings": 2} | rows)},
        "traffic": {
            "call 1": Wanted(met=rows),
            **calls,
            "another tenant": Wanted(met=rows, never=("hits",), as_in="call 1"),
        },
        "chained": {f"batch {n}": Wanted(met={"hits": 1, "resumed": 1}) for n in (1, numbers.rows)},
        "parameters": {f"batch {n}": Wanted(met={"rows": 2, "stopped": 1}) for n in range(1, numbers.draws + 1)},
        "needle": {f"batch {n}": Wanted(met={"passes": 2}) for n in (1, numbers.rows)},
    }
    return table[name]


SCENARIOS: Mapping[str, Callable[[Context, Serving], dict[str, Any]]] = {
    "neighbours": neighbours,
    "traffic": traffic,
    "chained": chained,
    "preemption": preemption,
    "order": order,
    "seam": seam,
    "needle": needle,
}
