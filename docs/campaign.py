"""Plants every fault and look-alike in turn, each on several seeds, and writes what became of them into `results.md`.

`python docs/campaign.py FOLDER [--suite core] [--seeds 0 1 2] [--at-once 2]`: one run folder each, in FOLDER. The same
command goes on where it was stopped: finished runs are kept, begun ones resumed. With the honest runs, which have
bfloat16 ones among them, and the faults planted in bfloat16, a campaign on core takes about half an hour on two cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import measure

from draftgate.canaries import record, summary
from draftgate.canaries.faults.registry import PLANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
COARSE = ("--dtype", "bfloat16")
SHOW_THROUGH = ("F16", "F37", "F43")  # of the token faults, those that are planted in bfloat16 as well
JUDGED = (0, 1)  # exit status of a run that came to a verdict, whatever it is


class Run(NamedTuple):
    """One run of the campaign: its folder, and what the command is told beside suite and seed."""

    folder: Path
    arguments: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    """All runs are there and the page is written; 3 where a run came to no verdict, and nothing is written then."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suite", default="core")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args(arguments)
    runs = planned(options.folder, options.suite, options.seeds)
    with ThreadPoolExecutor(options.at_once) as pool:
        ended = list(pool.map(made, runs))
    if broken := [run.folder for run, status in zip(runs, ended, strict=True) if status not in JUDGED]:
        sys.stderr.write(f"no verdict in {', '.join(map(str, broken))}; see log.txt there, then start again\n")
        return 3
    return write([run.folder for run in runs])


def planned(folder: Path, suite: str, seeds: Sequence[int]) -> list[Run]:
    """Honest runs in either dtype, then every plant, then faults that must show through the noise of bfloat16."""
    ways: dict[str, tuple[str, ...]] = {"honest": (), "honest-bfloat16": COARSE}
    ways |= {plant.code: ("--fault", plant.code) for plant in PLANTS}
    ways |= {f"{code}-bfloat16": ("--fault", code, *COARSE) for code in SHOW_THROUGH}
    elsewhere = {plant.code: plant.suite for plant in PLANTS if plant.suite}  # what another suite must show
    return [
        Run(folder / f"{name}-{seed}", (elsewhere.get(name, suite), "--seed", str(seed), *way))
        for name, way in ways.items()
        for seed in seeds
    ]


def made(run: Run) -> int:
    """The run's exit status, once it has one; a finished run is not made again."""
    if (run.folder / summary.NAME).exists():
        return 0
    resume = ("--resume",) if (run.folder / record.NAME).exists() else ()
    command = [sys.executable, str(ROOT / "harness.py"), "run", *run.arguments, "--out", str(run.folder), *resume]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    run.folder.mkdir(parents=True, exist_ok=True)
    (run.folder / "log.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    sys.stderr.write(f"{run.folder.name}: exit status {done.returncode}\n")
    return done.returncode


def write(folders: Sequence[Path]) -> int:
    """`results.md` stands rewritten by the script that reads runs."""
    return measure.main([str(folder) for folder in folders])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
