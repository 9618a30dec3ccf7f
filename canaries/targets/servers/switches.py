"""Finds switches that make a figure unquotable, in whatever a server's configuration consists of.

A configuration is searched as text: command line, environment and what the server itself reports. A switch that is
nowhere to be seen there, as in the environment of a server that was not launched here, cannot be found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple


class Switch(NamedTuple):
    """A pattern, and what it means where it matches: "synthetic" acceptance or a "lossy" rule."""

    pattern: str
    kind: str


class Found(NamedTuple):
    """A switch that is on, and the text that shows it."""

    kind: str
    text: str


def find(switches: Sequence[Switch], *configuration: Any) -> list[Found]:
    """Every switch that is on, in the order of the table; case, quotes and the kind of dash do not matter."""
    text = " ".join(part if isinstance(part, str) else json.dumps(part) for part in configuration)
    plain = re.sub(r'[\s"\'\\=:,\[\]]+', " ", text).replace("-", "_").lower()
    matches = [(switch, re.search(switch.pattern, plain)) for switch in switches]
    return [Found(switch.kind, match.group()) for switch, match in matches if match]
