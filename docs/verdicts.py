"""Writes into `docs/engines.md` what the gate said of real engines: `python docs/verdicts.py "llama.cpp=RUN" ...`.

Each argument names a finished run and its folder. The block is rewritten in its place, or put at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blocks

from draftgate.canaries import summary
from draftgate.canaries.contracts import Reason
from draftgate.canaries.reasons import REASONS
from draftgate.canaries.report.text import interval, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE = Path(__file__).with_name("engines.md")
BEGIN = blocks.begin("verdicts", "verdicts")
HEAD = ("candidate", "suite", "verdict", "held by", "speed, [95 % interval]")


def main(arguments: Sequence[str]) -> int:
    """`docs/engines.md` has one row a run."""
    named = [argument.rpartition("=") for argument in arguments]
    if not named or not all(name and folder for name, _, folder in named):
        sys.stderr.write('usage: python docs/verdicts.py "NAME=RUN" ...\n')
        return 2
    runs = {name: summary.read(Path(folder)) for name, _, folder in named}
    PAGE.write_text(blocks.replaced(PAGE.read_text(encoding="utf-8"), BEGIN, page(runs)), encoding="utf-8")
    return 0


def page(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """The table: a result is held by what the one at fault did.

    Speeds are those of a machine that did other work beside: they show how they are told, not gains.
    """
    rows = [(name, *_row(run)) for name, run in runs.items()]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (HEAD, ["---"] * len(HEAD), *rows))
    return (
        "## What the gate said\n\nEach against plain decoding by the same engine, on two cores that did other work "
        f"beside, so that speeds are no claims.\n\n{table}"
    )


def _row(run: Mapping[str, Any]) -> tuple[str, ...]:
    suite, speed = run["identity"]["suite"], run["headline"] or {}
    held: dict[str, list[str]] = {}
    for why in run["reasons"]:
        if REASONS[Reason(why["reason"])].culprit == run["culprit"]:
            held.setdefault(f"{why['reason']}, `{why['check']}`", []).append(why["cell"])
    told = f"{number(speed['ratio'])}x {interval(speed['low'], speed['high'])}" if speed else "-"
    return (
        f"{suite['name']} {suite['digest'][:8]}",
        str(run["verdict"]),
        "; ".join(f"{what} ({', '.join(cells)})" for what, cells in held.items()) or "-",
        told,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
