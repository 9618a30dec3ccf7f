"""A plot of points with intervals, as SVG text: one row each, one axis. Knows nothing about what is plotted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, LEFT, RIGHT, ROW, HEAD, FOOT = 640, 120, 24, 26, 34, 34  # pixels
STYLE = "font-family:sans-serif;font-size:13px;fill:#555"
COLOURS = ("#1f6fb4", "#c8571b", "#2e8b57", "#8a4fbf")


class Dot(NamedTuple):
    """A point of a row; `low` and `high` are the ends of its interval, the value itself where there is none."""

    series: str
    value: float
    low: float
    high: float


class Row(NamedTuple):
    """What stands at the left, and its points."""

    label: str
    dots: Sequence[Dot]


def plot(title: str, rows: Sequence[Row], *, least: float, most: float, step: float) -> str:
    """The drawing as text. The axis goes from `least` to `most`; a point or an end beyond it raises ValueError."""
    ends = [end for row in rows for dot in row.dots for end in (dot.low, dot.value, dot.high)]
    if not ends or not all(least <= end <= most for end in ends):
        raise ValueError(f"points must lie between {least} and {most}: {ends}")
    series = list(dict.fromkeys(dot.series for row in rows for dot in row.dots))
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(series)}
    height, bottom = HEAD + ROW * len(rows) + FOOT, HEAD + ROW * len(rows)

    def across(value: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * (value - least) / (most - least):.1f}"

    parts = [f'<text x="{LEFT}" y="18" style="{STYLE}">{escape(title)}{_legend(colours)}</text>']
    for number in range(math.floor((most - least) / step + 1e-9) + 1):
        x, label = across(least + number * step), f"{least + number * step:g}"
        parts.append(f'<path d="M{x} {HEAD}V{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{bottom + 18}" style="{STYLE};text-anchor:middle">{label}</text>')
    for place, row in enumerate(rows):
        y = HEAD + ROW * (place + 0.5)
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" style="{STYLE};text-anchor:end">{escape(row.label)}</text>')
        for dot in row.dots:
            colour = colours[dot.series]
            parts.append(f'<path d="M{across(dot.low)} {y}H{across(dot.high)}" stroke="{colour}" stroke-width="2"/>')
            parts.append(f'<circle cx="{across(dot.value)}" cy="{y}" r="4.5" fill="{colour}"/>')
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(parts) + "\n</svg>\n"


def _legend(colours: dict[str, str]) -> str:
    return "".join(f'<tspan dx="14" fill="{colour}">● {escape(name)}</tspan>' for name, colour in colours.items())
