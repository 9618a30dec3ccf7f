"""Takes the census of margins and freezes a suite with it: `python -m draftgate.canaries.census FOLDER`.

The census says how near plain greedy decoding of one model comes to a tie, canary by canary: where gaps are small,
noise may fork an answer. It stands in the suite's folder as `census.json`, under the suite's digest.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.errors import EngineError
from ..suites import digests, parse
from ..suites.errors import SuiteError, SuiteMalformed
from ..suites.loader import freeze
from .observations.context import GREEDY, Context
from .targets import reference
from .targets.reference import ReferenceTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..suites.suite import Suite
    from .contracts import Arm

BATCH = 8
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5)
DIGITS = 6  # decimals of a logit: below float32's noise


def take(suite: Suite, plain: Arm) -> dict[str, Any]:
    """The census of all canaries, answered by `plain` within the longest limit of the greedy cells."""
    tokens = max((cell.tokens for cell in suite.cells if cell.greedy), default=0)
    if not tokens:
        raise SuiteMalformed(f"{suite.folder}: no cell is greedy, so there is no margin to take; freeze it without")
    context = Context(suite=suite, baseline=plain, candidate=plain, seed=0)
    requests = context.requests(suite.canaries, tokens=tokens, sampling=GREEDY, label="census")
    gaps: dict[str, tuple[float, ...]] = {}
    for first in range(0, len(requests), BATCH):
        group = requests[first : first + BATCH]
        replays = plain.score(group, [g.tokens for g in plain.generate(group)], width=0, slack=0.0)
        gaps |= {request.name: replay.gap for request, replay in zip(group, replays, strict=True)}
    model = plain.identity()["model"]
    smallest = sorted((min(gap), name) for name, gap in gaps.items())
    every = np.concatenate([np.array(gap) for gap in gaps.values()])
    return {
        "weights_sha256": model["weights_sha256"],
        "dtype": model["dtype"],
        "tokens": tokens,
        "quantiles": {f"{q:g}": round(float(np.quantile(every, q)), DIGITS) for q in QUANTILES},
        "gaps": {name: round(gap, DIGITS) for gap, name in smallest},
    }


def write(folder: Path, plain: Arm, *, unreleased: bool) -> str:
    """The suite in `folder` stands frozen with a new census; returns its digest. Raises a SuiteError."""
    files = {name: content for name, content in digests.read(folder).items() if name != parse.CENSUS}
    content = json.dumps(take(parse.suite(folder, files, ""), plain), indent=1) + "\n"
    return freeze(folder, unreleased=unreleased, new={parse.CENSUS: content.encode("ascii")})


def main(arguments: Sequence[str] | None = None) -> int:
    """Freezes one folder and prints its digest; 2 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m draftgate.canaries.census", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, default=reference.EMBEDDED / "target")
    parser.add_argument("--unreleased", action="store_true", help="freeze anew: no result was published on this suite")
    options = parser.parse_args(arguments)
    try:
        plain: Any = ReferenceTarget(name="plain", model=reference.load_target(options.model))
        print(write(options.folder, plain, unreleased=options.unreleased))  # noqa: T201 - the command's output
    except (SuiteError, EngineError, OSError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
