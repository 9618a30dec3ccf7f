"""The tables of the report: cells by checks, times of both arms, and lists of what there is to choose from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from .text import clean, interval, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORDS = {"FAIL": "FAIL", "INCONCLUSIVE": "open", "NOT_EXERCISED": "idle", "NOT_APPLICABLE": "n/a", "PASS": "pass"}
COLOURS = {"FAIL": "bold red", "pass": "green", "miss": "bold red"}
COLUMNS = 6  # that a terminal has room for beside one another
WORD = 28  # characters of one word that a column is kept wide enough for
DIGEST = re.compile("[0-9a-f]{64}")
LEGEND = "pass, FAIL, open: too little data, idle: not exercised, n/a: does not apply, miss: required but not made."
ARMS = ("baseline", "candidate")
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
    """Times of both arms by cell, and drafts kept of those proposed; None when no cell measured any times."""
    table = _table(*(Text(head) for head in ("cell", "arm", *(head for _, head, _ in TIMES), "kept")))
    table.columns[1].min_width = max(map(len, ARMS))
    kept = {finding["cell"]: _kept(finding["figures"]) for finding in figures_of(cells, "acceptance")}
    for finding in figures_of(cells, "speed"):
        for arm in ARMS:
            times = finding["figures"].get(arm) or {}
            table.add_row(
                Text(clean(finding["cell"]), overflow="fold"),
                Text(arm),
                *(Text(number(times.get(key), form)) for key, _, form in TIMES),
                Text(kept.get(finding["cell"], "") if arm == "candidate" else "", overflow="fold"),
            )
    return table if table.row_count else None


def predicted(cells: Sequence[Mapping[str, Any]]) -> Table | None:
    """Speed-up by cell, as measured and as rounds and costs predict it; None where no cell's costs were measured."""
    table = _table(*(Text(head) for head in ("cell", "measured", "predicted", "free width", "tokens", "wider", "c")))
    for finding in figures_of(cells, "speed"):
        if found := finding["figures"].get("predicted"):
            measured = (finding["figures"].get(key) for key in ("ratio", "low", "high"))
            told = (found[key] for key in ("ratio", "low", "high"))
            rest = (number(found[key]) for key in ("ideal", "tokens_a_round", "wider", "c"))
            spans = (f"{number(middle)} {interval(low, high)}" for middle, low, high in (measured, told))
            table.add_row(*(Text(text, overflow="fold") for text in (clean(finding["cell"]), *spans, *rest)))
    return table if table.row_count else None


def _kept(figures: Mapping[str, Any]) -> str:
    """Drafted tokens kept of all proposed, as counts."""
    return f"{number(figures.get('accepted'), '.0f')}/{number(figures.get('proposed'), '.0f')}"


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
