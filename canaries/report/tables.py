"""The tables of the report: cells by checks, times of both arms, and lists of what there is to choose from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from .text import clean, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORDS = {"FAIL": "FAIL", "INCONCLUSIVE": "open", "NOT_EXERCISED": "idle", "NOT_APPLICABLE": "n/a", "PASS": "pass"}
COLOURS = {"FAIL": "bold red", "pass": "green", "miss": "bold red"}
COLUMNS = 6  # that a terminal has room for beside one another
WORD = 28  # characters of one word that a column is kept wide enough for
DIGEST = re.compile("[0-9a-f]{64}")
LEGEND = "pass, FAIL, open: too little data, idle: not exercised, n/a: does not apply, miss: required but not made."
TIMES = (
    ("ttft_s", "TTFT s", ".3f"),
    ("itl_ms", "ITL ms", ".2f"),
    ("decode_tok_s", "tok/s", ".1f"),
    ("e2e_s", "E2E s", ".2f"),
)


def matrix(cells: Sequence[Mapping[str, Any]]) -> Table:
    """One row a check, one column a cell; required checks carry an asterisk."""
    table = _table(Text("check"), *(Text(clean(cell["name"]), overflow="fold") for cell in cells))
    required = {check for cell in cells for check in cell["required"]}
    found = [finding["check"] for cell in cells for finding in cell["findings"]]
    for check in dict.fromkeys([*found, *sorted(required)]):
        name = Text(clean(check) + ("*" if check in required else ""), overflow="fold")
        table.add_row(name, *(_status(cell, check) for cell in cells))
    return table


def speed(cells: Sequence[Mapping[str, Any]]) -> Table | None:
    """Times of both arms by cell; None when no cell measured them."""
    table = _table(*(Text(head) for head in ("cell", "arm", *(head for _, head, _ in TIMES))))
    for finding in figures_of(cells, "speed"):
        for arm in ("baseline", "candidate"):
            times = finding["figures"].get(arm) or {}
            table.add_row(
                Text(clean(finding["cell"]), overflow="fold"),
                Text(arm),
                *(Text(number(times.get(key), form)) for key, _, form in TIMES),
            )
    return table if table.row_count else None


def choices(rows: Sequence[Mapping[str, Any]]) -> Table:
    """What there is to choose from: one row each, a column for every key that any row has, where these have room."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if len(keys) > COLUMNS:
        return _cards(rows)
    columns = {key: [_listed(row.get(key, "")) for row in rows] for key in keys}
    table = _table(*(Text(key) for key in keys))
    for column, texts in zip(table.columns, columns.values(), strict=True):
        column.no_wrap = all(len(text) <= WORD and " " not in text for text in texts)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(text, overflow="fold") for text in row))
    return table


def _cards(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The rows one below another, each key with its value beside it; what is empty is left out."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for row in rows:
        for key, value in row.items():
            if text := _listed(value):
                table.add_row(Text(key), Text(text, overflow="fold"))
        table.add_section()
        table.add_row()
    return table


def figures_of(cells: Sequence[Mapping[str, Any]], check: str) -> list[Mapping[str, Any]]:
    """The findings of a check that carry figures, in the order of the cells."""
    return [f for cell in cells for f in cell["findings"] if f["check"] == check and f["figures"]]


def _status(cell: Mapping[str, Any], check: str) -> Text:
    """The worst that the check found in the cell."""
    here = {finding["status"] for finding in cell["findings"] if finding["check"] == check}
    word = next((word for status, word in WORDS.items() if status in here), None)
    word = word or ("miss" if check in cell["required"] else "")
    return Text(word, style=COLOURS.get(word, ""))


def _listed(value: Any) -> str:
    """A value in a cell of a table: lists by the names of their items, digests by their first twelve digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return clean(", ".join(f"{key}: {_listed(item)}" for key, item in value.items()))
    if isinstance(value, (list, tuple)):
        return clean(
            ", ".join(
                str(item.get("id") or item.get("name")) if isinstance(item, dict) else str(item) for item in value
            )
        )
    return clean(value)[:12] if DIGEST.fullmatch(str(value)) else clean(value)


def _table(*heads: Text) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in heads:
        table.add_column(head, min_width=4)
    return table
