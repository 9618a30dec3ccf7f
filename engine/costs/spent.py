"""What the parts of one round and one plain step took."""

from __future__ import annotations

from typing import NamedTuple


class Spent(NamedTuple):
    """Seconds of one turn: a plain step, a draft, a verification; and how many tokens a row's draft had on average."""

    step: float
    draft: float
    verify: float
    drafted: float
