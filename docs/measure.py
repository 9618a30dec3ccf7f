"""Writes `docs/results.md` from finished runs: `python docs/measure.py RUN_FOLDER...`. Blocks of other scripts stay.

Every figure comes from a run's `summary.json`, which is read only if it is that of the record beside it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from draftgate.canaries import record, summary
from draftgate.canaries.faults.registry import BY_NAME
from draftgate.canaries.report.text import interval, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RESULTS = Path(__file__).with_name("results.md")
BLOCK = re.compile(r"<!-- \w+: written by [\w/.]+ -->.*?<!-- end -->", re.DOTALL)


class Run(NamedTuple):
    """A finished run: what was judged, and what its record says it was made on."""

    summary: Mapping[str, Any]
    header: Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """`docs/results.md` stands rewritten."""
    if not arguments:
        sys.stderr.write("usage: python docs/measure.py RUN_FOLDER...\n")
        return 2
    folders = [Path(argument) for argument in arguments]
    written = page([Run(summary.read(f), record.read(f).header) for f in folders])
    kept = BLOCK.findall(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    RESULTS.write_text("\n".join([written, *(f"{block}\n" for block in kept)]), encoding="utf-8")
    return 0


def page(runs: Sequence[Run]) -> str:
    """All runs on one page: honest ones with their figures, then what became of the planted faults."""
    honest = [run for run in runs if not run.summary["fault"]]
    planted = [run for run in runs if run.summary["fault"]]
    parts = ["# Results", "Written by `docs/measure.py` from finished runs; do not edit."]
    if honest:
        parts += ["## Honest runs", _honest(honest)]
        for run in honest:
            parts += [f"### {_title(run)}", _made_on(run), _cells(run.summary)]
    if planted:
        parts += ["## Planted faults", _planted(planted)]
    return "\n\n".join(parts) + "\n"


def _honest(runs: Iterable[Run]) -> str:
    head = ("suite", "candidate", "seed", "verdict", "reasons", "speed", "plain against plain", "seconds")
    rows = []
    for run in runs:
        found, headline = run.summary, run.summary["headline"] or {}
        rows.append(
            (
                *_asked(found),
                found["verdict"],
                _reasons(found),
                _ratio(headline),
                interval(headline.get("aa_low"), headline.get("aa_high")),
                number(found["seconds"], ".0f"),
            )
        )
    return _table(head, rows)


def _planted(runs: Iterable[Run]) -> str:
    head = ("fault", "what it does", "suite", "candidate", "seed", "must be answered", "verdict", "seen by", "seconds")
    rows = []
    for run in runs:
        found, plant = run.summary, BY_NAME[run.summary["fault"]]
        rows.append(
            (
                plant.code,
                plant.summary,
                *_asked(found),
                plant.expected,
                f"{found['verdict']} {_reasons(found)}".strip(),
                ", ".join(dict.fromkeys(held["check"] for held in found["reasons"])),
                number(found["seconds"], ".0f"),
            )
        )
    return _table(head, rows)


def _cells(found: Mapping[str, Any]) -> str:
    """One row a cell: its verdict, its speed, and how far drafts were kept."""
    head = ("cell", "verdict", "speed", "plain against plain", "pairs", "tokens a round", "acceptance by position")
    rows = []
    for cell in found["cells"]:
        figures = {finding["check"]: finding["figures"] for finding in cell["findings"]}
        speed, kept = figures.get("speed", {}), figures.get("acceptance", {})
        rows.append(
            (
                cell["name"],
                cell["verdict"],
                _ratio(speed),
                interval(speed.get("aa_low"), speed.get("aa_high")),
                number(speed.get("pairs"), ".0f"),
                number(kept.get("tokens_per_round")),
                ", ".join(number(rate, ".0%") for rate in kept.get("by_position", ())) or "-",
            )
        )
    return _table(head, rows)


def _title(run: Run) -> str:
    suite, candidate, seed = _asked(run.summary)
    return f"{candidate} on {suite}, seed {seed}"


def _made_on(run: Run) -> str:
    machine = run.header.get("machine", {})
    where = ", ".join(f"{key} {value}" for key, value in machine.items())
    return f"Record sha256 `{run.summary['record_sha256'][:12]}`{f'; {where}' if where else ''}."


def _asked(found: Mapping[str, Any]) -> tuple[str, str, str]:
    identity = found["identity"]
    suite, candidate = identity["suite"], identity["candidate"]
    more = [f"{key}={value}" for key, value in candidate.get("options", {}).items() if key != "k"]  # k is in the name
    return f"{suite['name']} {suite['version']}", ",".join([candidate["name"], *more]), str(identity["seed"])


def _reasons(found: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys(held["reason"] for held in found["reasons"]))


def _ratio(figures: Mapping[str, Any]) -> str:
    return f"{number(figures.get('ratio'))} {interval(figures.get('low'), figures.get('high'))}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
