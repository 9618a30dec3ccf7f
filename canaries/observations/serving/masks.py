"""Who sees whom in a draft tree: one token of it is changed, and the logits of those that may not see it are compared.

The tree is scored by the candidate's own model behind its own cache, several contexts as one batch. A token may be seen
by its descendants alone: neither by earlier nodes nor by siblings and their children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ....engine.models.base import Block
from ....engine.tree import ancestry, chain_parents
from ....suites.served import Serving
from ..context import Context, seed_of
from .played import company, load

if TYPE_CHECKING:
    from ...contracts import Hosting

SHAPES = {  # parents of the nodes, and the node whose token is changed
    "later in a chain": (chain_parents(4), 3),
    "sibling": ((-1, 0, 0, 1, 2), 1),
    "later sibling": ((-1, 0, 0, 1, 2), 2),
    "leaf": ((-1, 0, 0, 1, 2), 4),
}


def mask_probe(context: Context, numbers: Serving) -> dict[str, Any]:
    """For every change by how much, in logits, it moved what must not see it, at most, and what must, at least."""
    arm = cast("Hosting", context.candidate)
    canaries = company(context.suite, numbers, numbers.places)
    prompts = [context.baseline.encode(canary.messages) for canary in canaries]
    rng = np.random.default_rng(seed_of(context.seed, "masks"))
    given = load(numbers, batch=len(prompts))
    known = np.unique(np.concatenate(prompts))  # words that text is made of: rare ones are too much alike to show
    found = {}
    for label, (parents, node) in SHAPES.items():
        tokens = np.array([rng.choice(known, len(parents), replace=False) for _ in prompts])
        changed = tokens.copy()
        changed[:, node] = [rng.choice(np.setdiff1d(known, row)) for row in tokens]
        blocks = [Block.of(list(given_), [parents] * len(prompts)) for given_ in (tokens, changed)]
        before, after = arm.scored_behind(prompts, blocks, given)
        moved = np.abs(before - after).max(axis=-1)  # (contexts, nodes)
        sees = ancestry(parents)[:, node]
        found[label] = {"moved": float(moved[:, ~sees].max()), "reached": float(moved[:, sees].min())}
    return {"places": len(prompts), "changes": found}
