"""Writes `docs/results.md` and its plots from finished runs: `python docs/measure.py RUN_FOLDER...`.

`docs/campaign.py` makes them. Blocks of other scripts stay.

Every figure comes from a run's `summary.json`, which is read only if it is that of the record beside it.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import blocks

from draftgate.canaries import judge, record, summary
from draftgate.canaries.faults.registry import BY_NAME
from draftgate.canaries.report import by_task, dots
from draftgate.canaries.report.text import interval, number
from draftgate.suites import loader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RESULTS = Path(__file__).with_name("results.md")
PLOTTED = ("greedy-1", "topk-8", "topp-8")  # cells of core whose acceptance is drawn


class Run(NamedTuple):
    """A finished run: what was judged, and what its record says it was made on."""

    summary: Mapping[str, Any]
    header: Mapping[str, Any]
    record: record.Record


def main(arguments: Sequence[str]) -> int:
    """`docs/results.md` stands rewritten, and its plots beside it."""
    if not arguments:
        sys.stderr.write("usage: python docs/measure.py RUN_FOLDER...\n")
        return 2
    folders = [Path(argument) for argument in arguments]
    found = [(summary.read(folder), record.read(folder)) for folder in folders]
    runs = [Run(judged, recorded.header, recorded) for judged, recorded in found]
    kept = blocks.kept(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    RESULTS.write_text("\n".join([page(runs), *(f"{block}\n" for block in kept)]), encoding="utf-8")
    for name, drawing in plots(runs).items():
        RESULTS.with_name(name).write_text(drawing, encoding="utf-8")
    return 0


def page(runs: Sequence[Run]) -> str:
    """All runs on one page: honest ones with their figures, then what became of the planted faults."""
    honest = [run for run in runs if not run.summary["fault"]]
    planted = [run for run in runs if run.summary["fault"]]
    parts = ["# Results", "Written by `docs/measure.py` from finished runs; do not edit."]
    if honest:
        parts += ["## Honest runs", _honest(honest)]
        parts += [part for same in _alike(honest) for part in _tasks(same)]
        parts += [f"![{name.removesuffix('.svg')} by task]({name})" for name in plots(runs)]
        for run in honest:
            parts += [f"### {_title(run)}", _made_on(run), _cells(run.summary)]
    if planted:
        parts += ["## Planted faults and look-alikes", _score(planted), _planted(planted)]
    return "\n\n".join(parts) + "\n"


def plots(runs: Sequence[Run]) -> dict[str, str]:
    """Drawings by file name: of the first suite and candidate on the page whose runs can be told apart by task."""
    for same in _alike([run for run in runs if not run.summary["fault"]]):
        rows = by_task.rows(judge.suite_of(same[0].record.header), [run.record for run in same])
        return {"acceptance.svg": _kept(rows), "speed.svg": _fast(rows)}
    return {}


def _kept(rows: Iterable[by_task.Row]) -> str:
    """The share of drafted tokens that were kept, in some cells."""
    shares = {row.task: {cell: row.kept[cell] for cell in PLOTTED if cell in row.kept} for row in rows}
    listed = [
        dots.Row(task, [dots.Dot(cell, share, share, share) for cell, share in kept.items()])
        for task, kept in shares.items()
    ]
    return dots.plot("Drafted tokens kept", listed, least=0.0, most=1.0, step=0.2)


def _fast(rows: Iterable[by_task.Row]) -> str:
    """Speed with its interval; a task of one prompt has none and is left out."""
    found = {row.task: row.speed for row in rows if row.speed and row.speed.pairs > 1}
    listed = [dots.Row(task, [dots.Dot("greedy-1", one.ratio, one.low, one.high)]) for task, one in found.items()]
    ends = [end for one in found.values() for end in (one.low, one.high)]
    least, most = math.floor(2 * min(ends)) / 2, math.ceil(2 * max(ends)) / 2
    return dots.plot("Times as fast", listed, least=least, most=most, step=0.5)


def _alike(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs whose answers were recorded, those of one suite and candidate together."""
    found: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if any(key.endswith("/pairs") for key in run.record.observations):
            suite, candidate, _ = _asked(run.summary)
            found.setdefault((suite, candidate, run.header["suite"]["digest"]), []).append(run)
    return list(found.values())


def _tasks(runs: Sequence[Run]) -> list[str]:
    """How far drafts are kept, by task and cell; how much faster; whether plain decoding is right."""
    suite, candidate, _ = _asked(runs[0].summary)
    rows = by_task.rows(judge.suite_of(runs[0].record.header), [run.record for run in runs])
    cells = list(rows[0].kept)
    table = [
        (
            f"**{row.task}**" if row.task in by_task.TASKS else row.task,
            "-" if (right := by_task.right(runs[0].summary["cells"], row.kinds)) is None else "{} of {}".format(*right),
            *(number(row.kept[cell], ".0%") for cell in cells),
            _speed(row),
        )
        for row in rows
    ]
    head = ("task", "plain decoding right", *(f"kept, {cell}" for cell in cells), "speed alone, greedy")
    said = f"Drafted tokens that were kept, by what is written; {_runs(len(runs))} of {candidate} on {suite}."
    return [f"### By task: {candidate} on {suite}", said, _table(head, table)]


def _speed(row: by_task.Row) -> str:
    """A ratio; its interval only where there is more than one prompt."""
    if row.speed is None or row.speed.pairs == 1:
        return _ratio({"ratio": row.speed.ratio} if row.speed else {})
    return _ratio({"ratio": row.speed.ratio, "low": row.speed.low, "high": row.speed.high})


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
    asked = ("plant", "what it does", "suite", "candidate", "seed", "must be answered")
    head = (*asked, "verdict", "as it must", "seen by", "in kinds", "greedy forks explained", "seconds")
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
                "yes" if _answered(run) else "NO",
                ", ".join(dict.fromkeys(held["check"] for held in found["reasons"])),
                ", ".join(_kinds(found)),
                _forks(found),
                number(found["seconds"], ".0f"),
            )
        )
    return _table(head, rows)


def _score(runs: Sequence[Run]) -> str:
    """How many faults were held for their reason, and how many look-alikes were held."""
    faults = [_answered(run) for run in runs if BY_NAME[run.summary["fault"]].expected != "PASS"]
    innocent = [_answered(run) for run in runs if BY_NAME[run.summary["fault"]].expected == "PASS"]
    return (
        f"{sum(faults)} of {len(faults)} faults were held for the reason expected; "
        f"{innocent.count(False)} of {len(innocent)} look-alikes were held."
    )


def _answered(run: Run) -> bool:
    """Whether the gate answered the plant as it must: the verdict, and the reason among those given."""
    verdict, _, reason = BY_NAME[run.summary["fault"]].expected.partition(" ")
    given = {held["reason"] for held in run.summary["reasons"]}
    return bool(run.summary["verdict"] == verdict and (not reason or reason in given))


def _kinds(found: Mapping[str, Any]) -> list[str]:
    """The kinds of the canaries in which a fault was seen, in the suite's order; laws name no canary."""
    named = found["identity"]["suite"]
    suite = loader.load(named.get("folder") or f"{named['name']}/{named['version']}")
    seen = {canary.rpartition(":")[2] for held in found["reasons"] for canary in held["reproduce"]}
    return list(dict.fromkeys(canary.kind for canary in suite.canaries if canary.id in seen))


def _forks(found: Mapping[str, Any]) -> str:
    """Greedy forks of the timed answers that noise explained, over all cells; a dash where none was counted."""
    figures = [f["figures"] for cell in found["cells"] for f in cell["findings"] if f["check"] == "exact_tokens"]
    counted = [figure["forks"] for figure in figures if figure.get("unexplained") == 0]
    return str(sum(counted)) if counted else "-"


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
    dtype = (identity["baseline"].get("model") or {}).get("dtype", "float32")
    name = ",".join([candidate["name"], *more]) + (f" in {dtype}" if dtype != "float32" else "")
    return f"{suite['name']} {suite['version']}", name, str(identity["seed"])


def _reasons(found: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys(held["reason"] for held in found["reasons"]))


def _ratio(figures: Mapping[str, Any]) -> str:
    return f"{number(figures.get('ratio'))} {interval(figures.get('low'), figures.get('high'))}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs together"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
