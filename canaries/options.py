"""The arguments of `draftgate run`, and how an interrupted run goes on. Imports nothing heavy: read at every start."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from .errors import UsageError
from .samplers.options import positive

DTYPES = ("float32", "bfloat16", "float16")
RUN_OPTIONS = ("suite", "baseline", "candidate", "config", "model", "dtype", "fault", "claim", "out", "seed", "resume")
KEEP_OPTIONS = ("suite", "baseline", "candidate", "config", "model", "dtype", "fault", "seed")
ATTRIBUTE_OPTIONS = ("suite", "candidate", "model", "dtype", "fault", "seed")


def run(parser: argparse.ArgumentParser) -> None:
    """What can be asked of a run."""
    add = parser.add_argument
    add("suite", nargs="?", default="core", metavar="SUITE", help="name or folder (default: core)")
    add("--baseline", metavar="TARGET", help="default: plain; see draftgate engines")
    add("--candidate", metavar="TARGET", help="default: draft:k=5")
    add("--config", type=Path, metavar="FILE", help="both arms as servers; see draftgate init")
    add("--model", type=Path, metavar="PATH", help="folder of a model (default: the one that ships)")
    add("--dtype", choices=DTYPES, help=f"of both arms (default: {DTYPES[0]})")
    add("--fault", metavar="NAME", help="plant a fault in the candidate; see draftgate faults list")
    add("--claim", type=positive, metavar="R", help="hold unless the interval's lower end is at least R")
    add("--out", type=Path, metavar="DIR", help="run folder (default: runs/<time>-<suite>)")
    add("--seed", type=int, default=0, metavar="N", help="default: 0")
    add("--resume", action="store_true", help="go on with the run in --out")
    add(
        "--record-baseline",
        type=Path,
        metavar="FILE",
        help="keep the baseline's answers and judge nothing; later: --baseline replay:file=FILE",
    )


def attribute(commands: Any, parser_of: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds the command; `parser_of` makes a parser from a name, a function and a summary."""
    told = "which departs: speculation, the type of cache, or both together"
    add = parser_of(commands, "attribute", _attribute, told).add_argument
    add("suite", nargs="?", default="core", metavar="SUITE", help="name or folder (default: core)")
    add("--candidate", required=True, metavar="TARGET", help="on another cache than floats, as draft:k=3,cache=int4")
    add("--model", type=Path, metavar="PATH", help="folder of a model (default: the one that ships)")
    add("--dtype", choices=DTYPES, help=f"of all arms (default: {DTYPES[0]})")
    add("--fault", metavar="NAME", help="plant a fault in the candidate; see draftgate faults list")
    add("--seed", type=int, default=0, metavar="N", help="default: 0")


def _attribute(options: argparse.Namespace) -> int:
    from . import attribution
    from .report.attribution import show
    from .report.progress import progress

    asked = attribution.Options(**{key: getattr(options, key) for key in ATTRIBUTE_OPTIONS})
    with redirect_stdout(sys.stderr):
        found = attribution.attribute(asked, progress())
    if options.json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        show(found)
    return 0


def stop_as_by_hand() -> None:
    """A stop asked for politely, or a terminal that is gone, is as Ctrl-C; what is ignored (`nohup`) stays ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _by_hand)


def _by_hand(_: int, frame: FrameType | None) -> None:
    """What Ctrl-C does at this moment: while servers are asked, that is to cancel what is under way."""
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)


def default_out(options: argparse.Namespace) -> Path:
    """A new folder, named by the time and the suite. Raises UsageError where a run should be resumed."""
    if options.resume:
        raise UsageError("--resume does not say which run; add --out with its folder")
    return Path("runs") / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{options.suite.strip('/').replace('/', '-')}"


def resume_hint(options: argparse.Namespace) -> str:
    """How to go on with an interrupted run: the same command, with its folder and --resume."""
    if not (options.out / "record.jsonl").exists():
        return "interrupted before anything was recorded; run again"
    named = {key: getattr(options, key) for key in RUN_OPTIONS if key not in {"suite", "resume"}}
    words = [word for key, value in named.items() if value is not None for word in (f"--{key}", str(value))]
    return f"interrupted; resume with: draftgate {shlex.join(['run', options.suite, *words, '--resume'])}"
