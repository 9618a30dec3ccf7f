"""The commands `init` and `doctor`. Imports nothing heavy: it is read at every start."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...options import stop_as_by_hand
from .templates import NAMES, template


def add(commands: Any, parser_of: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds both commands; `parser_of` makes a parser from a name, a function and a summary."""
    begin = parser_of(commands, "init", _init, "print a commented configuration for a kind of server")
    begin.add_argument("server", choices=NAMES, metavar="SERVER", help=", ".join(NAMES))
    look = parser_of(commands, "doctor", _doctor, "find out what both arms of a configuration offer")
    look.add_argument("config", type=Path, metavar="FILE", help="a configuration, such as gate.toml")


def _init(options: argparse.Namespace) -> int:
    text = template(options.server)
    sys.stdout.write(json.dumps({"configuration": text}) + "\n" if options.json else text)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from ...report.terminal import show_choices
    from . import doctor

    stop_as_by_hand()  # so that what was launched is stopped
    rows = doctor.rows(options.config)
    if options.json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        show_choices(rows)
    return 0
