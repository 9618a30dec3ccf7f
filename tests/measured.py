"""Times of passes as they are measured and kept, made up so that what made them is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from draftgate.engine.costs.measuring import Pass

ROWS, WIDTHS, TURNS = (1, 16, 64), (1, 2, 3, 5), 15


def made(noise: float = 0.05) -> dict[Pass, Any]:
    """Times of passes that cost 1 ms, and a 16th of it for each token above 16."""
    rng = np.random.default_rng(5)
    found = {Pass("target", rows, width): 1e-3 * max(1.0, rows * width / 16) for rows in ROWS for width in WIDTHS}
    found |= {Pass("draft", rows, 1): 1e-4 * max(1.0, rows / 16) for rows in ROWS}
    return {one: seconds * np.exp(rng.normal(0, noise, TURNS)) for one, seconds in found.items()}


def document() -> dict[str, Any]:
    """The document of these times."""
    passes = [one._asdict() | {"seconds": seconds.tolist()} for one, seconds in made().items()]
    models = {name: {"parameters": 1000, "dtype": "float32"} for name in ("target", "draft")}
    rates = {"bandwidth": [1e9, 1.1e9], "flops": [2e9, 2.1e9]}
    on = {"processor": "one", "cores": 1, "threads": 1, "python": "3"}
    return {"schema": 1, "machine": on, "clock": "processor", "models": models, "context": 4, "passes": passes} | rates
