"""What a run observes, and in which order. Each step may read what was observed alone before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..suites.suite import Cell
from .checks.base import entry
from .checks.law import own_batch_tokens, row_draws, table_draws
from .checks.registry import ledger
from .checks.samples import draws_needed
from .errors import RecordBroken
from .observations import blocks, chat, conversation, costs, laws, own_batch, pairs, replays, samples, variants
from .observations.context import Context
from .observations.pairs import BASELINE, CANDIDATE
from .observations.serving.table import OBSERVED, SERVING

if TYPE_CHECKING:
    from .contracts import Telling


class Step(NamedTuple):
    """One observation, made by `compute` from what was observed before; `alone`: nothing else may run meanwhile.

    `beside`: no check rests on it, so that a record which was finished without it stays as it is.
    """

    key: str
    compute: Callable[[dict[str, Any]], Any]
    alone: bool = False
    beside: bool = False


def plan(context: Context) -> Iterator[Step]:
    """What is timed or read by others first, alone; then what may be made side by side, the longest first.

    A target that lives in another process is asked by this one alone: nothing of it may be forked.
    """
    suite, candidate = context.suite, context.candidate
    shared = "forks" not in context.baseline.capabilities & candidate.capabilities
    if "configuration" in candidate.capabilities:
        yield Step("configuration", lambda _: configurations(context), alone=True)
    yield from _pairs(context)
    if candidate.draft_length:
        yield from _costs(context)
        yield from _inside(context)
        yield from _serving(context)
    for cell in suite.cells:
        yield Step(
            f"{cell.name}/replays",
            lambda made, c=cell: upon(  # type: ignore[misc]
                blocks.pairs_of(suite, c, made), partial(replays.observe, context, c)
            ),
            alone=shared,
        )
    yield from _samples(context, alone=shared)
    if suite.chat and "chat" in context.baseline.capabilities & candidate.capabilities:
        numbers = suite.chat
        yield Step("chat", lambda _: chat.observe(context, numbers), alone=True)


def _pairs(context: Context) -> Iterator[Step]:
    """What is timed: cell by cell, or block by block where each block is a launch."""
    cells = context.suite.cells
    if not context.in_turn:
        for cell in cells:
            yield Step(f"{cell.name}/pairs", lambda _, c=cell: pairs.observe(context, c), alone=True)  # type: ignore[misc]
        return
    for block, cell in product(range(len(blocks.BLOCKS)), cells):
        yield Step(
            blocks.key(cell, block),
            lambda _, c=cell, b=block: blocks.observe(context, c, b),  # type: ignore[misc]
            alone=True,
        )


def _costs(context: Context) -> Iterator[Step]:
    """What the parts of a round cost, where a candidate can be taken apart."""
    for cell in context.suite.cells if "costs" in context.candidate.capabilities else ():
        yield Step(
            f"{cell.name}/costs",
            lambda made, c=cell: upon(made[f"{c.name}/pairs"], partial(costs.observe, context, c)),  # type: ignore[misc]
            alone=True,
            beside=True,
        )


def _samples(context: Context, *, alone: bool) -> Iterator[Step]:
    """Answers by the thousand, once for cells of one sampling."""
    suite, demanded = context.suite, context.demanded
    numbers = suite.samples
    for cell in suite.cells if numbers else ():
        if cell == suite.law_cell(cell) and "samples" in suite.required[demanded].checks_for(cell):
            share = ledger(suite, demanded).share(entry(cell, "samples", "first"))
            draws = partial(draws_needed, suite, cell, share)
            yield Step(
                f"{cell.name}/samples",
                lambda made, c=cell, n=numbers, d=draws: samples.observe(context, c, n, d, noise_in(made, c)),  # type: ignore[misc]
                alone=alone,
            )


def noise_in(made: Mapping[str, Any], cell: Cell) -> float | None:
    """The noise of plain decoding that the cell's replays have measured; None where they were not made before.

    Raises RecordBroken where a pass of plain decoding has no number.
    """
    measured = made.get(f"{cell.name}/replays", {}).get("noise", {"logits": {}})["logits"]
    for shape in (shape for shape, value in measured.items() if value is None):
        told = f"{cell.name}/replays tells no noise of plain decoding ({shape})"
        raise RecordBroken(f"{told}; run again with another --out, and record again a baseline that was kept")
    return max(measured.values(), default=None)


def upon(before: Mapping[str, Any], compute: Callable[[Mapping[str, Any]], Any]) -> Any:
    """What is made from an observation; where that was broken off, so is this."""
    return before if "broken" in before else compute(before)


def _inside(context: Context) -> Iterator[Step]:
    """What can be observed only where the candidate lets its parts be turned and exchanged."""
    suite, candidate = context.suite, context.candidate
    if "law" in candidate.capabilities:
        yield from _laws(context)
    if "knobs" in candidate.capabilities:
        yield Step("knobs", lambda _: variants.observe_knobs(context, candidate.name))
    if "synthetic" in candidate.capabilities:
        yield Step("synthetic", lambda _: variants.observe_synthetic(context, candidate.draft_length))
    if suite.conversation and "conversation" in candidate.capabilities:
        numbers = suite.conversation
        yield Step("conversation", lambda _: conversation.observe(context, numbers))


def _serving(context: Context) -> Iterator[Step]:
    """What is asked under load, where the suite has numbers for it and both arms can be asked so."""
    numbers = context.suite.serving
    if numbers and "serving" in context.baseline.capabilities & context.candidate.capabilities:
        for name, compute in OBSERVED.items():
            yield Step(f"{SERVING}/{name}", lambda _, c=compute, n=numbers: c(context, n))  # type: ignore[misc]


def configurations(context: Context) -> dict[str, Any]:
    """What both arms report of themselves."""
    arms = {BASELINE: context.baseline, CANDIDATE: context.candidate}
    return {role: cast("Telling", arm).configuration() for role, arm in arms.items()}


def _laws(context: Context) -> Iterator[Step]:
    suite, candidate, shares = context.suite, context.candidate, ledger(context.suite, context.demanded)
    sampled = [cell for cell in suite.cells if not cell.greedy]
    if not sampled:
        return
    arm = candidate.variant(candidate.name, k=suite.law.draft_length)
    recorded = laws.spanned(candidate.draft_length) + 1
    yield Step("recorded", lambda _: laws.record_rows(context, recorded), alone=True)
    for cell in sampled:
        own = shares.share(entry(cell, "law", "own batch"))
        yield Step(
            f"{cell.name}/own_batch",
            lambda _, c=cell, s=own: own_batch.observe(context, c, candidate, own_batch_tokens(suite, s)),  # type: ignore[misc]
        )
    for cell in (cell for cell in sampled if cell == suite.law_cell(cell)):
        share, each = shares.share(entry(cell, "law", "table")), shares.share(entry(cell, "law", "rows"))
        yield Step(
            f"{cell.name}/table",
            lambda _, c=cell, s=share: laws.observe_table(  # type: ignore[misc]
                context, c, arm, table_draws(context, c, s)
            ),
        )
        yield Step(
            f"{cell.name}/rows",
            lambda made, c=cell, s=each: laws.observe_rows(  # type: ignore[misc]
                context, c, candidate, made["recorded"], row_draws(context, c, made["recorded"], s)
            ),
        )
