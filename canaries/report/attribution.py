"""The two by two of speculation and cache on a terminal: who has how many right, and what departs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .text import clean


def show(found: Mapping[str, Any], console: Console | None = None) -> None:
    """The table and its reading stand on the console."""
    (console or Console(highlight=False)).print(render(found))


def render(found: Mapping[str, Any]) -> Group:
    """Right answers by check and arm, then what follows."""
    lines = [Text(f"Planted on purpose: {clean(found['fault'])}.")] if found["fault"] else []
    lines += [Text(f"{name}: {clean(found['sides'][name]['parity'])}") for name in found["types"]]
    plain = f"The cache alone changes {found['plain_changed']} of {found['asked']} plain answers."
    head = Text(f"{clean(found['candidate'])} against plain; suite {found['suite']}, cell {found['cell']}")
    return Group(head, _table(found), *lines, Text(plain), Text(clean(found["told"]), style="bold"))


def _table(found: Mapping[str, Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in (
        "right answers",
        "asked",
        *(f"{arm} {name}" for name in found["types"] for arm in ("plain", "draft")),
    ):
        table.add_column(Text(column))
    first = found["sides"][found["types"][0]]["right"]
    for check, asked in first.items():
        sides = [found["sides"][name]["right"][check] for name in found["types"]]
        counts = [str(side[arm]) for side in sides for arm in ("plain", "candidate")]
        table.add_row(Text(check), Text(str(asked["asked"])), *map(Text, counts))
    return table
