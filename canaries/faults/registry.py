"""All plants in one table. A plant is a strategy passed at construction: production code names no fault.

`F` codes are faults and must be held; `N` codes are innocent look-alikes and must pass.
"""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from . import loaded
from .plant import Plant

PLANTS = (
    Plant(
        "F02",
        "state-unfiltered",
        ".drafting:state_unfiltered",
        "the draft is drawn under top-k and top-p, q is stated without them",
        "HOLD DISTRIBUTION",
        "law",
    ),
    Plant(
        "F03",
        "take-the-best",
        ".drafting:take_the_best",
        "the draft is the likeliest token, q is stated as if it had been drawn",
        "HOLD DISTRIBUTION",
        "law",
    ),
    Plant(
        "F03b",
        "drop-the-unsure",
        ".drafting:drop_the_unsure",
        "a draft ends before a weak token, which was drawn and is taken back, and not behind it",
        "HOLD DISTRIBUTION",
        "law",
    ),
    Plant(
        "F04",
        "verify-at-unit-temperature",
        ".verification:verify_at_unit_temperature",
        "the target is scored at T = 1 without filters, whatever was asked for",
        "HOLD DISTRIBUTION",
        "law",
    ),
    Plant(
        "F06",
        "resample-from-target",
        ".verification:resample_from_target",
        "after a rejection the replacement is drawn from p, not from the residual",
        "HOLD DISTRIBUTION",
        "law",
    ),
    Plant(
        "F16",
        "keep-the-first-unseen",
        ".verification:keep_the_first_unseen",
        "the first draft token is accepted without a look",
        "HOLD CORRECTNESS",
        "exact_tokens",
    ),
    Plant(
        "F17",
        "bonus-from-the-row-before",
        ".verification:bonus_from_the_row_before",
        "after a full acceptance the bonus token is drawn from the row before",
        "HOLD CORRECTNESS",
        "exact_tokens",
    ),
    Plant(
        "F37",
        "end-at-blocks-only",
        ".ending:end_at_blocks_only",
        "the end of the sequence is looked for at the end of a block only",
        "HOLD CORRECTNESS",
        "exact_tokens",
    ),
    Plant(
        "F40",
        "keep-the-overshoot",
        ".cache:keep_the_overshoot",
        "what was committed past the end of an answer stays in the session's cache",
        "HOLD CORRECTNESS",
        "conversation",
    ),
    Plant(
        "F43",
        "keep-rejected",
        ".cache:keep_rejected",
        "after a rejection the rejected token's cache entry stays",
        "HOLD CORRECTNESS",
        "exact_tokens",
    ),
    Plant(
        "F53",
        "verify-on-another-kernel",
        ".kernels:kernel_by_shape",
        "the candidate scores on kernels of its own, whose rounding plain decoding does not have",
        "HOLD CORRECTNESS",
        "exact_tokens",
    ),
    Plant(
        "F53b",
        "verify-sees-itself",
        ".masks:verify_sees_itself",
        "a verify block of two tokens and more attends to itself alone, not to what the cache holds",
        "HOLD CORRECTNESS",
        "exact_tokens",
    ),
    Plant(
        "F54",
        "keep-whole-blocks",
        ".cache:keep_whole_blocks",
        "a session's cache is kept in whole blocks, rejected drafts and all",
        "HOLD CORRECTNESS",
        "conversation",
    ),
    Plant(
        "N03",
        "kernel-by-shape",
        ".kernels:kernel_by_shape",
        "both arms round otherwise in passes of other width or batch: greedy near ties fork",
        "PASS",
        "",
        shared=True,
    ),
    Plant(
        "N06",
        "other-order",
        ".innocent:other_order",
        "randomness is consumed in another order: an innocent difference",
        "PASS",
        "",
    ),
    Plant(
        "N16",
        "coarse-chunks",
        ".innocent:coarse_chunks",
        "the stream reports several rounds at once",
        "PASS",
        "",
    ),
    Plant(
        "N25",
        "shorter-drafts",
        ".innocent:shorter_drafts",
        "many rounds draft fewer tokens than the draft length allows",
        "PASS",
        "",
    ),
    *loaded.PLANTS,
)
BY_NAME = {key: plant for plant in PLANTS for key in (plant.code, plant.name)}


def find(name: str) -> Plant:
    """The plant of that code or name. Raises UsageError that lists them all."""
    plant = BY_NAME.get(name) or BY_NAME.get(name[:1].upper() + name[1:])
    if plant is None:
        known = ", ".join(f"{p.code} ({p.name})" for p in PLANTS)
        raise UsageError(f"unknown fault {name!r}; known: {known}")
    return plant


def rows() -> list[dict[str, Any]]:
    """The table as plain documents."""
    return [
        {"code": p.code, "name": p.name, "summary": p.summary, "expected": p.expected, "seen_by": p.seen_by}
        for p in PLANTS
    ]
