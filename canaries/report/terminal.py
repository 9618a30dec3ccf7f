"""The report of a run on a terminal: the first screen says what may be done with the number, and why.

Reads the summary and nothing else; readable without colour and at 60 columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from ..contracts import KEPT, Reason
from ..reasons import CULPRITS, REASONS
from . import tables
from .text import above, clean, interval, number, odds, on_what, prediction, some, speed_line, where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BANNERS = {
    "PASS": ("green", "PASS: this speed result may be quoted, within its scope."),
    "HOLD": ("red", "HOLD: this speed result is not publishable."),
    "LOSSY": ("yellow", "LOSSY: the candidate declares another distribution; this is a measurement, not a result."),
}
BESIDE_KEPT = {  # sentences where the baseline was kept from another hour
    "PASS": "PASS: correctness only; no speed ratio is claimed.",
    "HOLD": "HOLD: this candidate is not shown to be right.",
}
FAULTS = {
    "engine": "The ENGINE is at fault.",
    "baseline": "The BASELINE is at fault: nothing was shown against speculation.",
    "evidence": "The EVIDENCE is at fault: nothing was shown against the engine.",
}


def show(summary: Mapping[str, Any], console: Console | None = None) -> None:
    """The report stands on the console; colour only where the terminal has it and NO_COLOR is not set."""
    (console or Console(highlight=False)).print(render(summary))


def show_choices(rows: Sequence[Mapping[str, Any]], console: Console | None = None) -> None:
    """The rows stand on the console as a table."""
    (console or Console(highlight=False)).print(tables.choices(rows))


def render(summary: Mapping[str, Any]) -> Group:
    """The whole report, most important first."""
    return Group(
        _banner(summary),
        _headline(summary),
        *_held(summary),
        *_section("Not looked at", [_absent(row) for row in summary["not_looked_at"]]),
        *_section("The smallest faults that would have been seen", _visible(summary)),
        *_details(summary),
    )


def _banner(summary: Mapping[str, Any]) -> Panel:
    colour, sentence = BANNERS[summary["verdict"]]
    if _kept(summary):
        sentence = BESIDE_KEPT.get(summary["verdict"], sentence)
    lines = [Text(sentence, style=f"bold {colour}")]
    if summary["culprit"]:
        lines.append(Text(FAULTS[summary["culprit"]], style="bold"))
    if summary["fault"]:
        lines.append(Text(f"Planted on purpose: {clean(summary['fault'])}."))
    lines.append(Text(_who(summary["identity"])))
    lines += [Text(line) for line in on_what(summary["identity"])]
    return Panel(Group(*lines), border_style=colour)


def _who(identity: Mapping[str, Any]) -> str:
    arms = [clean(identity[arm].get("name", arm)) for arm in ("candidate", "baseline")]
    suite = identity["suite"]
    return (
        f"{arms[0]} against {arms[1]}; suite {clean(suite['name'])} {clean(suite['version'])}, seed {identity['seed']}"
    )


def _headline(summary: Mapping[str, Any]) -> Text:
    headline = summary["headline"]
    if not headline:
        return Text("No speed was measured.")
    if _kept(summary):
        return Text("Speed  not claimed: the baseline was kept from another hour.")
    passed = summary["verdict"] == "PASS"
    text = Text("Speed  ")
    text.append(f"{number(headline['ratio'])}x", style="bold" if passed else "strike")
    text.append("" if passed else "  NOT PUBLISHABLE", style="bold")
    text.append(f"  {speed_line(headline)}\n")
    text.append(f"Plain against plain  {interval(headline['aa_low'], headline['aa_high'])}")
    if summary["claim"] is not None:
        text.append(f"\nClaimed  {number(summary['claim'])}x")
    if found := headline.get("predicted"):
        text.append(f"\nPredicted  {prediction(found)}")
        text.append(f"\n{told}" if (told := above(found, summary["claim"])) else "", style="bold")
    return text


def _kept(summary: Mapping[str, Any]) -> bool:
    return KEPT in summary["identity"]["baseline"]


def _held(summary: Mapping[str, Any]) -> list[RenderableType]:
    """Every reason once, explained, with the findings that gave it; the engine's before all others."""
    by_reason: dict[str, list[Mapping[str, Any]]] = {}
    for held in summary["reasons"]:
        by_reason.setdefault(held["reason"], []).append(held)
    ranked = sorted(by_reason.items(), key=lambda item: CULPRITS.index(REASONS[Reason(item[0])].culprit))
    return _section("Why", [_reason(Reason(reason), held) for reason, held in ranked])


def _reason(reason: Reason, held: Sequence[Mapping[str, Any]]) -> Text:
    row = REASONS[reason]
    text = Text(f"{reason} ({row.culprit})", style="bold")
    for one in held:
        text.append(
            f"\n- {where(one['check'], [one['cell']] if one['cell'] else [])}: {clean(one['summary'])}", "default"
        )
        if one["reproduce"]:
            text.append(f"\n  to reproduce: {some(one['reproduce'])}", "default")
    text.append(f"\nmeans: {row.means}\nnext:  {row.next}", "not bold")
    return text


def _absent(row: Mapping[str, Any]) -> Text:
    why = f": {clean(row['why'])}" if row["why"] else ""
    return Text(f"- {where(row['what'], row['cells'])}{why}")


def _visible(summary: Mapping[str, Any]) -> list[Text]:
    lines = [Text(f"- {where(row['check'], row['cells'])}: {clean(row['seen'])}") for row in summary["seen"]]
    return [*lines, Text(odds(summary["false_alarm"]))]


def _details(summary: Mapping[str, Any]) -> list[RenderableType]:
    cells = summary["cells"]
    times = tables.speed(cells)
    settings = [Text(f"- {clean(cell['name'])}: {clean(cell['setting'])}") for cell in cells if cell.get("setting")]
    return [
        *_section("Cells", settings),
        *_section("Checks by cell (* required)", [tables.matrix(cells), Text(tables.LEGEND, style="dim")]),
        *_section("Times", [times] if times else []),
        *_section("Predicted beside measured", [foretold] if (foretold := tables.predicted(cells)) else []),
        *_section(
            "Acceptance by position", [_positions(finding) for finding in tables.figures_of(cells, "acceptance")]
        ),
    ]


def _positions(finding: Mapping[str, Any]) -> Text:
    figures = finding["figures"]
    rates = "  ".join(f"{place}: {number(rate, '.0%')}" for place, rate in enumerate(figures.get("by_position", ()), 1))
    counts = f"{number(figures.get('accepted'), ',')} of {number(figures.get('proposed'), ',')} drafted tokens kept"
    pace = f"{number(figures.get('tokens_per_round'))} tokens a round"
    return Text(f"{clean(finding['cell'])}  {rates}\n  {counts}, {pace}")


def _section(title: str, parts: Sequence[RenderableType]) -> list[RenderableType]:
    """A heading and what stands under it; nothing at all when there is nothing to say."""
    return [Text(f"\n{title}", style="bold"), *(Padding(part, (0, 0, 0, 2)) for part in parts)] if parts else []
