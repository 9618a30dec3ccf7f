"""Records a baseline, so that candidates can be judged against it later: `draftgate run --record-baseline FILE`.

The baseline is asked all that a run would ask it, in that order; no candidate is opened and nothing is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import __version__
from ..suites import loader
from ..suites.suite import Suite
from . import documents
from .errors import UsageError
from .observations.context import Context
from .observations.pairs import BASELINE
from .plan import plan
from .report.progress import Progress
from .run import refuse_unknown, settle
from .targets import opening, tape
from .targets.recording import Recorder, Silent
from .targets.servers.templates import SERVERS
from .targets.spec import TargetSpec

NOT_BESIDE = {  # what says something of a candidate or a verdict, and what it is where nothing is said
    "candidate": None,
    "fault": None,
    "claim": None,
    "out": None,
    "resume": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(opening.Asked):
    """What the command line asked for; of a candidate or a fault it says nothing."""

    suite: str


def refuse_beside(given: Mapping[str, Any], file: Path) -> None:
    """Raises UsageError for an option that has no meaning where a baseline is recorded."""
    for name, nothing in NOT_BESIDE.items():
        if given[name] != nothing:
            raise UsageError(
                f"--{name} has no meaning beside --record-baseline {file}: nothing is judged; leave it out"
            )


def keep(options: Options, file: Path, progress: Progress) -> str:
    """The baseline stands on a tape at `file`, where nothing stood; returns the tape's digest. Writes nothing else."""
    suite = loader.load(options.suite)
    tape.check(file)
    progress.step("opening the baseline")
    with (
        TemporaryDirectory(prefix="draftgate-") as logs,
        opening.alone(_asked(options), suite, Path(logs), BASELINE) as baseline,
    ):
        recorder: Any = Recorder(inner=baseline)
        context = _context(recorder, suite, options.seed)
        context.check_prompts()
        settle()
        _ask_all(context, progress)
        named = {"name": suite.name, "version": suite.version, "digest": suite.digest}
        made = {"draftgate": __version__, "recorded": datetime.now(UTC).isoformat(timespec="seconds")}
        document = recorder.document()
    kept = tape.Tape(made=made | {"suite": named, "seed": options.seed}, arm=document, calls=recorder.calls)
    return tape.write(file, kept)


def _asked(options: Options) -> opening.Asked:
    """The baseline alone, as the command line names it. Raises UsageError for the reference engine."""
    spec = TargetSpec.parse(options.baseline or "")
    theirs = options.config is None and spec.name == opening.THEIRS
    if theirs:
        spec.refuse_unknown(("device",))
    elif options.config is None and spec.name not in SERVERS:
        told = f"--baseline {options.baseline}" if spec.name else "the reference engine"
        choice = f"a server (--config FILE) or transformers (--baseline {opening.THEIRS})"
        raise UsageError(f"--record-baseline keeps {choice}, not {told}; name one of these")
    if not theirs:
        return options
    return replace(options, baseline=None, candidate=options.baseline)  # which is told the device of both


def _context(recorder: Any, suite: Suite, seed: int) -> Context:
    """The baseline, and nothing in the candidate's place. Raises UsageError where the suite knows no kept baseline."""
    silent: Any = Silent(inner=recorder.inner, width=suite.noise.widths[0])
    context = Context(suite=suite, baseline=recorder, candidate=silent, seed=seed)
    refuse_unknown(suite, context.demanded)
    return context


def _ask_all(context: Context, progress: Progress) -> None:
    """Every observation of a run is made, with nothing from the candidate; each reads the ones before as a run does."""
    planned, made = list(plan(context)), dict[str, Any]()
    progress.total(len(planned))
    try:
        for key, compute, *_ in planned:
            progress.step(key)
            made[key] = documents.decode(documents.encode(compute(made)))
    finally:
        progress.close()
