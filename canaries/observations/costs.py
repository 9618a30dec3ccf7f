"""What a round of the candidate costs beside a plain step, in each cell: what its speed-up can be predicted from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ...suites.suite import Cell
from .answers import by_arm
from .context import Context, sampling_of
from .pairs import BASELINE, grouped

if TYPE_CHECKING:
    from ..contracts import Costed

TURNS = 16  # rounds and plain steps that are timed: their spread is a few parts in a hundred
PARTS = ("step", "draft", "verify", "drafted")


def observe(context: Context, cell: Cell, pairs: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of both prefills, and of each turn's parts, behind the first group's prompts and plain answers."""
    group = grouped(context.suite, cell)[0]
    requests = context.requests(group, tokens=cell.tokens, sampling=sampling_of(cell), label=f"{cell.name}/costs")
    plain = {a.canary: a.generation.tokens for a in by_arm(pairs, BASELINE) if a.repeat == 0}
    arm = cast("Costed", context.candidate)
    first, *turns = arm.spend(requests, [plain[canary.id] for canary in group], TURNS)
    return {
        "prefill": {"target": first.step, "draft": first.draft},
        **{part: [getattr(turn, part) for turn in turns] for part in PARTS},
    }
