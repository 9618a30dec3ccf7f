"""Where in a suite's files something stands, and how a failure is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Never

from .digests import shown
from .errors import SuiteMalformed

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the suite something stands; a failure is reported there."""

    path: Path
    line: int = 0

    def fail(self, what: str) -> Never:
        """Raises SuiteMalformed, in one line that begins with the place."""
        where = f"{shown(self.path)}:{self.line}" if self.line else shown(self.path)
        raise SuiteMalformed(f"{where}: " + " ".join(what.split()))
