"""What a run observes, and in which order. Each step may read what was observed before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .checks.base import entry
from .checks.law import own_batch_draws, row_draws, table_draws
from .checks.registry import ledger
from .observations import conversation, laws, pairs, replays, variants
from .observations.context import Context

Compute = Callable[[dict[str, Any]], Any]


def plan(context: Context) -> Iterator[tuple[str, Compute]]:
    """Keys and how to observe them, in order; each may read what was observed before it."""
    suite, candidate, shares = context.suite, context.candidate, ledger(context.suite, context.candidate.kind)
    for cell in suite.cells:
        yield f"{cell.name}/pairs", lambda _, c=cell: pairs.observe(context, c)  # type: ignore[misc]
        yield (
            f"{cell.name}/replays",
            lambda made, c=cell: replays.observe(context, c, made[f"{c.name}/pairs"]),  # type: ignore[misc]
        )
    if candidate.draft_length:
        yield "knobs", lambda _: variants.observe_knobs(context, candidate.name)
        yield "synthetic", lambda _: variants.observe_synthetic(context, candidate.draft_length)
        if suite.conversation:
            numbers = suite.conversation
            yield "conversation", lambda _: conversation.observe(context, numbers)
    sampled = [cell for cell in suite.cells if not cell.greedy]
    if not sampled or not candidate.draft_length:
        return
    arm = candidate.variant(candidate.name, k=suite.law.draft_length)
    for cell in sampled:
        own = shares.share(entry(cell, "law", "own batch"))
        yield (
            f"{cell.name}/own_batch",
            lambda _, c=cell, s=own: laws.observe_table(context, c, arm, own_batch_draws(context, c, s), c.batch),  # type: ignore[misc]
        )
    yield "recorded", lambda _: laws.record_rows(context, laws.spanned(candidate.draft_length) + 1)
    for cell in (cell for cell in sampled if cell == suite.law_cell(cell)):
        share, each = shares.share(entry(cell, "law", "table")), shares.share(entry(cell, "law", "rows"))
        yield (
            f"{cell.name}/table",
            lambda _, c=cell, s=share: laws.observe_table(  # type: ignore[misc]
                context, c, arm, table_draws(context, c, s), suite.law.batch
            ),
        )
        yield (
            f"{cell.name}/rows",
            lambda made, c=cell, s=each: laws.observe_rows(  # type: ignore[misc]
                context, c, candidate, made["recorded"], row_draws(context, c, made["recorded"], s)
            ),
        )
