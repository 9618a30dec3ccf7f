"""How much is asked of an engine under load: its blocks, its traffic, and what a fault there must change to be seen.

Knows nothing about schedulers: these are the numbers of a suite's table `[serving]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .suite import Suite

SCENARIOS = ("neighbours", "parameters", "traffic", "chained", "preemption", "order", "seam", "needle")
CHECKS = (*SCENARIOS, "parameters_law", "private_words", "mask_probe", "state_parity")  # that need the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is asked under load: `prompts` canaries a scenario, kinds in turn, `tokens` at most an answer.

    blocks, block, chunk
        The pool's blocks, the tokens of each, and the most prompt tokens that a row takes in one pass.
    batches, rows, stagger
        How many rows at once the neighbours are tried at; how many the other scenarios; in how many steps as many
        requests arrive as there may be rows.
    tight
        Blocks of the pool so small that rows must give way.
    bypass
        Steps with speculation, and then as many without.
    calls, cancels
        How often traffic is sent in one session; after how many steps a request of it is cancelled.
    needles, window
        Ids of the long canaries; tokens that a layer of the windowed model sees.
    places, parity_prompts
        How many contexts the mask is probed at; how many canaries have their cache compared after every round.
    parity_multiple
        A cache is a fresh prefill's up to this many times what plain decoding's own cache is off by.
    samplings, draws
        Temperature, top-k, top-p and min-p of sampled rows in mixed batches, taken in turn; how many such batches.
    moved
        Share of answers whose rounds may be others in another company: near ties of the drafter.
    law_effect
        Largest distance of the transforms' CDF from uniform that must be seen in sampled rows of mixed batches.
    """

    prompts: int
    tokens: int
    blocks: int
    block: int
    chunk: int
    batches: tuple[int, ...]
    rows: int
    stagger: int
    tight: int
    bypass: int
    calls: int
    cancels: int
    needles: tuple[str, ...]
    window: int
    places: int
    parity_prompts: int
    parity_multiple: float
    samplings: tuple[tuple[float, int, float, float], ...]
    draws: int
    moved: float
    law_effect: float


def complaint(serving: Serving, suite: Suite) -> str | None:
    """What the suite lacks of the canaries that its table asks for; None where all are there."""
    if missing := sorted({*serving.needles} - {canary.id for canary in suite.canaries}):
        return f"serving.needles names {missing[0]!r}, and no canary is called so; name one that is there"
    asked = {name: getattr(serving, name) for name in ("prompts", "parity_prompts", "places")}
    short = {name: count for name, count in asked.items() if count > len(suite.canaries)}
    for name, count in short.items():
        return f"serving.{name} asks for {count} canaries of {len(suite.canaries)}; ask for fewer or add some"
    if not suite.of_kind("identifiers"):
        return "serving looks for private words, but there is no identifiers canary; add some"
    return None
