"""The command line: parses, calls one function a command, prints, and returns an exit status.

0 PASS, 1 HOLD or LOSSY, 2 usage, 3 could not judge. Imports nothing heavy before a command needs it.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from contextlib import nullcontext, redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COULD_NOT_JUDGE = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status of one command, after it printed what it has to say."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _parser().parse_args(argv)
        status: int = options.command(options)
    except SystemExit:  # --help has printed; nothing below need be imported for that
        raise
    except KeyboardInterrupt:
        return _refuse("interrupted", COULD_NOT_JUDGE, argv)
    except _refusals() as error:
        return _refuse(str(error), getattr(error, "exit_status", 2), argv)
    except Exception as error:  # noqa: BLE001 - the outermost boundary: a bug of ours must not look like HOLD (1)
        traceback.print_exc()
        return _refuse(f"a bug in draftgate, nothing was judged: {error!r}; please report it", COULD_NOT_JUDGE, argv)
    return status


def _run(options: argparse.Namespace) -> int:
    from .canaries.options import default_out, stop_as_by_hand
    from .canaries.record import check_folder

    stop_as_by_hand()  # so that a record is left to resume, and no server that was launched
    if options.record_baseline:
        return _keep(options)
    options.out = options.out or default_out(options)
    check_folder(options.out, resume=options.resume)
    summary = _judged(options)
    status = _show_run(summary, options)
    if not options.json:
        sys.stdout.write(f"\n{summary['verdict']}  {options.out}\n")
    return status


def _keep(options: argparse.Namespace) -> int:
    from .canaries import keeping
    from .canaries.options import KEEP_OPTIONS
    from .canaries.report.progress import progress

    file = options.record_baseline
    keeping.refuse_beside(vars(options), file)
    with redirect_stdout(sys.stderr):
        sha256 = keeping.keep(keeping.Options(**{key: getattr(options, key) for key in KEEP_OPTIONS}), file, progress())
    _say(
        {"kept": str(file), "sha256": sha256},
        f"kept: {file}; judge against it by --baseline replay:file={file}",
        options,
    )
    return 0


def _judged(options: argparse.Namespace) -> dict[str, Any]:
    from .canaries import run
    from .canaries.errors import Interrupted
    from .canaries.options import RUN_OPTIONS, resume_hint
    from .canaries.report.progress import progress

    asked = run.Options(**{key: getattr(options, key) for key in RUN_OPTIONS})
    try:
        with redirect_stdout(sys.stderr):
            return run.run(asked, progress())
    except KeyboardInterrupt:
        raise Interrupted(resume_hint(options)) from None


def _report(options: argparse.Namespace) -> int:
    from .canaries.judge import judged

    return _show_run(judged(options.run), options)


def _publish(options: argparse.Namespace) -> int:
    from .canaries.publish import publish

    folder = publish(options.run, options.to)
    _say({"published": str(folder)}, f"published: {folder}", options)
    return 0


def _sampler(options: argparse.Namespace) -> int:
    from .canaries.documents import plain
    from .canaries.samplers import command

    with redirect_stdout(sys.stderr) if options.json else nullcontext():
        summary = command.run(options, quiet=options.json)
    if options.json:
        _print_json(plain(summary))
    else:
        sys.stdout.write(command.text(summary))
    return 0 if summary["verdict"] == "PASS" else 1


def _plan(options: argparse.Namespace) -> int:
    from .canaries.samplers import planning

    return _show_choices(planning.rows(options), options)


def _suite_list(options: argparse.Namespace) -> int:
    from .suites import loader

    return _show_choices(loader.available(), options)


def _suite_check(options: argparse.Namespace) -> int:
    from .suites import loader

    suite = loader.verified(options.suite)
    _say({"suite": suite.name, "digest": suite.digest}, f"{suite.name} is as it was frozen ({suite.digest})", options)
    return 0


def _suite_show(options: argparse.Namespace) -> int:
    from .canaries.documents import plain
    from .suites import loader
    from .suites.suite import by_kind

    loaded = loader.load(options.suite)
    suite = {"kinds": by_kind(loaded.canaries)} | plain(loaded)
    return _show_choices(suite if options.json else [{"field": k, "value": v} for k, v in suite.items()], options)


def _engines(options: argparse.Namespace) -> int:
    from .canaries.targets import registry

    return _show_choices(registry.rows(), options)


def _roofline(options: argparse.Namespace) -> int:
    from .canaries.roofline import command

    with redirect_stdout(sys.stderr):
        document = command.run(options)
    if options.json:
        _print_json(document)
    else:
        command.show(document)
    return 0


def _faults_list(options: argparse.Namespace) -> int:
    from .canaries.faults import registry

    return _show_choices(registry.rows(), options)


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        from .canaries.errors import UsageError

        raise UsageError(f"{message}; see {self.prog} --help")


class _Version(argparse.Action):
    """Prints the version; looks it up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from . import __version__

        sys.stdout.write(f"draftgate {__version__}\n")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    from .canaries import options as runs
    from .canaries.roofline.options import roofline
    from .canaries.samplers import options
    from .canaries.targets.servers import options as servers

    parser = _Parser(
        prog="draftgate",
        description="A correctness gate for speculative decoding: PASS or HOLD, from the tokens that were timed.",
        epilog="Exit status: 0 PASS, 1 HOLD or LOSSY, 2 usage, 3 could not judge.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    runs.run(_add(commands, "run", _run, "judge a candidate against its baseline"))
    runs.attribute(commands, _add)
    options.sampler(_add(commands, "sampler", _sampler, "judge a sampler of your own on known laws"))
    options.plan(_add(commands, "plan", _plan, "how many draws an effect takes, or what so many draws show"))
    roofline(_add(commands, "roofline", _roofline, "what speed-up a device, or this machine, allows"))
    report = _add(commands, "report", _report, "show a finished run again")
    report.add_argument("run", type=Path, metavar="RUN", help="folder of the run")
    publish = _add(commands, "publish", _publish, "judge a run again and, if it passes, write its result")
    publish.add_argument("run", type=Path, metavar="RUN", help="folder of the run")
    publish.add_argument("--to", type=Path, default=Path("results"), metavar="DIR", help="where to (default: results)")
    suite = _add_group(commands, "suite", "what is asked")
    _add(suite, "list", _suite_list, "the suites that ship")
    for name, command, summary in (
        ("show", _suite_show, "what a suite asks"),
        ("check", _suite_check, "find out whether a suite was edited"),
    ):
        _add(suite, name, command, summary).add_argument("suite", metavar="SUITE", help="name or folder")
    servers.add(commands, _add)
    _add(commands, "engines", _engines, "what can be named as baseline or candidate")
    _add(_add_group(commands, "faults", "faults that can be planted"), "list", _faults_list, "all of them")
    return parser


def _add(commands: Any, name: str, command: Callable[[argparse.Namespace], int], summary: str) -> _Parser:
    parser: _Parser = commands.add_parser(name, help=summary, description=f"{summary}.", allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.set_defaults(command=command)
    return parser


def _add_group(commands: Any, name: str, summary: str) -> Any:
    parser = commands.add_parser(name, help=summary, description=f"{summary}.", allow_abbrev=False)
    return parser.add_subparsers(required=True, metavar="COMMAND")


def _show_run(summary: dict[str, Any], options: argparse.Namespace) -> int:
    from .canaries.report.terminal import show

    if options.json:
        _print_json(summary)
    else:
        show(summary)
    return 0 if summary["verdict"] == "PASS" else 1


def _show_choices(rows: Any, options: argparse.Namespace) -> int:
    from .canaries.documents import plain
    from .canaries.report.terminal import show_choices

    _print_json(plain(rows)) if options.json else show_choices(plain(rows))
    return 0


def _say(document: dict[str, Any], line: str, options: argparse.Namespace) -> None:
    _print_json(document) if options.json else sys.stdout.write(f"{line}\n")


def _print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, allow_nan=False, indent=1) + "\n")


def _refuse(message: str, status: int, argv: Sequence[str]) -> int:
    line = " ".join(message.split())
    if "--json" in argv:
        _print_json({"error": line, "exit": status})
    sys.stderr.write(f"draftgate: {line}\n")
    return status


def _refusals() -> tuple[type[Exception], ...]:
    """What is told in one line. Called only once something was raised, so that it costs nothing otherwise."""
    from .canaries.errors import GateError
    from .engine.errors import EngineError
    from .suites.errors import SuiteError

    return GateError, EngineError, SuiteError


def _packaged() -> Callable[[], int]:
    """`main` of the package in this folder, whatever the folder is called and whatever else is installed."""
    if not __package__:
        here = Path(__file__).resolve().parent
        spec = spec_from_file_location("draftgate", here / "__init__.py", submodule_search_locations=[str(here)])
        assert spec
        assert spec.loader
        sys.modules["draftgate"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["draftgate"])
    from draftgate.harness import main as packaged

    return packaged


if __name__ == "__main__":
    sys.exit(_packaged()())
