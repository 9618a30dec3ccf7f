"""Records next-token laws of the embedded models for the samplers' suite: `python docs/rows.py FILE`.

Each row is a pair (target's law, draft's law) at one place of an answer, the most open places first. The tokens that
either model finds likeliest keep their own mass, the last entry holds all others.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from draftgate.canaries.observations.laws import lump
from draftgate.canaries.targets import reference
from draftgate.canaries.targets.spec import TargetSpec
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.request import Request, Sampling

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDERS = ("Tell a short story about a tired girl.", "What happened to the small captain?")
TOKENS, ROWS, VOCABULARY, DIGITS = 64, 16, 32, 7


def main(arguments: Sequence[str]) -> int:
    """FILE holds the rows."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python docs/rows.py FILE\n")
        return 2
    model = reference.load_target(reference.EMBEDDED / "target")
    arm = reference.build(TargetSpec.parse("draft:k=3"), model, Strategies())
    Path(arguments[0]).write_text(json.dumps(recorded(arm)) + "\n", encoding="utf-8")
    return 0


def recorded(arm: reference.ReferenceTarget) -> list[list[list[float]]]:
    """The rows of all orders together."""
    found: list[tuple[float, list[list[float]]]] = []
    for order in ORDERS:
        prompt = arm.encode([{"role": "user", "content": order}])
        request = Request(name=order, prompt=prompt, max_tokens=TOKENS, sampling=Sampling(temperature=1.0), seed=1)
        (answer,) = arm.generate([request])
        for logs in zip(*arm.recorded_logits(request, answer.tokens), strict=True):
            p, q = (law(row) for row in lump(*logs))
            found.append((-sum(x * np.log(x) for x in p if x), [p, q]))
    return [row for _, row in sorted(found, key=lambda pair: -pair[0])[:ROWS]]


def law(logs: Sequence[float]) -> list[float]:
    """Log-masses as a law of so many tokens, the last of them lumped, written with digits that still sum to 1."""
    masses = np.exp(logs)
    masses = np.round([*masses[: VOCABULARY - 1], masses[VOCABULARY - 1 :].sum()], DIGITS)
    masses[np.argmax(masses)] += 1 - masses.sum()
    return [round(float(mass), DIGITS) for mass in masses]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
