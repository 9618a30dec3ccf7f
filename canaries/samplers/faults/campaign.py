"""Measures the judge: how often it sees each planted fault, and how often it holds an honest sampler.

`python -m draftgate.canaries.samplers.faults.campaign FILE [--repeats 100] [--honest 10000] [--workers 2]` appends one
line a run to FILE and goes on where FILE ends, so it may be stopped at any time. `docs/samplers.py` makes a table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ...contracts import Status
from ...errors import SamplerFailed, UsageError
from ...report.progress import Progress, Silent, progress
from ..judge import judge
from ..run import Options
from .registry import BY_NAME, FAULTS, INNOCENT

HONEST_EFFECT = 0.05
"""Total variation that honest runs are planned for: many runs rather than fine ones."""

WALKS = frozenset({"multi-draft", "multi-draft-distinct", "honest-tree"})
"""Innocent samplers that walk row by row, and take fifteen times as long as the others."""

TURNS = 10
"""Honest runs of every other sampler for each run of one that walks row by row."""

UNJUDGED = "ERROR"
"""Stands for a verdict where the sampler raised, or did not return in time."""


class Job(NamedTuple):
    """One run: a sampler by name, a seed, the effect that is planned for (None: the suite's)."""

    name: str
    seed: int
    effect: float | None

    @property
    def key(self) -> tuple[str, int]:
        """What tells a run from others in the file."""
        return self.name, self.seed


def jobs(repeats: int, honest: int) -> Iterator[Job]:
    """Every fault `repeats` times at the suite's effect, and `honest` runs spread over the innocent samplers."""
    for seed in range(repeats):
        yield from (Job(row.name, seed, None) for row in FAULTS)
    seeds: dict[str, int] = {}
    for name in islice(cycle(rota()), honest):
        seeds[name] = seeds.get(name, -1) + 1
        yield Job(name, seeds[name], HONEST_EFFECT)


def rota() -> list[str]:
    """The innocent samplers in the order in which they take turns: every one once, then the quick ones alone."""
    quick = [row.name for row in INNOCENT if row.name not in WALKS]
    return [row.name for row in INNOCENT] + quick * (TURNS - 1)


def run(job: Job) -> dict[str, Any]:
    """One line of the file: the verdict, the checks that spoke, the seconds, and the p-values of an honest run."""
    row = BY_NAME[job.name]
    options = Options(name=job.name, seed=job.seed, effect=job.effect, reference=row.reference)
    try:
        found = judge(row.make(), options, Silent(), lambda _: None)
    except SamplerFailed as error:
        return {
            "name": job.name,
            "seed": job.seed,
            "verdict": UNJUDGED,
            "checks": [str(error)],
            "seconds": 0.0,
            "draws": 0,
        }
    failed = [f for f in found["findings"] if f.status == Status.FAIL]
    p_values = [f.evidence[0]["p_value"] for f in found["findings"] if f.check in {"joint", "classes"} and f.evidence]
    return {
        "name": job.name,
        "seed": job.seed,
        "verdict": found["verdict"],
        "checks": sorted({f.check for f in failed}),
        "seconds": found["seconds"],
        "draws": sum(f.evidence[0]["n"] for f in failed[:1] if f.evidence),
        "p_values": [] if row in FAULTS else p_values,
    }


def go_on(path: Path, wanted: Iterable[Job], bar: Progress, workers: int = 1) -> int:
    """How many runs are new; the file has a line for each of `wanted` afterwards. What was not judged is run again.

    So many `workers` run side by side, each in a process of its own.
    """
    done = {(line["name"], line["seed"]) for line in read(path) if line["verdict"] != UNJUDGED}
    left = [job for job in wanted if job.key not in done]
    bar.total(len(left))
    context = multiprocessing.get_context("spawn")
    with path.open("a", encoding="utf-8") as file, context.Pool(workers, torch.set_num_threads, (1,)) as pool:
        for line in pool.imap_unordered(run, left):
            bar.step(f"{line['name']} {line['seed']}")
            file.write(json.dumps(line) + "\n")
            file.flush()
    bar.close()
    return len(left)


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a campaign; an unfinished last one is left out. Raises UsageError for anything else."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise UsageError(f"{path} is no file of a campaign ({error}); name another") from error


def latest(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last word on each run."""
    return list({(line["name"], line["seed"]): line for line in lines}.values())


def tally(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a sampler: how many runs, how many were held, by which checks, the median seconds and draws of a HOLD."""
    rows, lines = [], latest(lines)
    for row in (*FAULTS, *INNOCENT):
        mine = [line for line in lines if line["name"] == row.name]
        if not mine:
            continue
        held = [line for line in mine if line["verdict"] == "HOLD"]
        draws, seconds = (sorted(line[key] for line in (held or mine)) for key in ("draws", "seconds"))
        rows.append(
            {
                "name": row.name,
                "codes": " ".join(row.codes),
                "summary": row.summary,
                "runs": len(mine),
                "held": len(held),
                "by": ", ".join(sorted({check for line in held for check in line["checks"]})),
                "draws": draws[len(draws) // 2],
                "seconds": seconds[len(seconds) // 2],
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """0 once every run is done; the table stands on standard output."""
    parser = argparse.ArgumentParser(description="Measure the judge of samplers; goes on where FILE ends.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs of each fault (default: 5)")
    parser.add_argument("--honest", type=int, default=0, metavar="N", help="runs of honest samplers (default: 0)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="runs side by side (default: 1)")
    asked = parser.parse_args(arguments)
    go_on(asked.file, jobs(asked.repeats, asked.honest), progress(), asked.workers)
    for row in tally(read(asked.file)):
        sys.stdout.write(
            f"{row['name']:28} {row['held']:>5} of {row['runs']:<5} {row['by']:24} {row['seconds']:.1f} s\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
