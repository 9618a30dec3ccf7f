"""Freezes a suite from the command line: `python -m draftgate.suites.freeze FOLDER [--unreleased]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import SuiteError
from .loader import freeze

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Freezes one folder and prints its digest; 2 where it cannot be frozen."""
    parser = argparse.ArgumentParser(prog="python -m draftgate.suites.freeze", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unreleased", action="store_true", help="freeze anew: no result was published on this suite")
    options = parser.parse_args(arguments)
    try:
        print(freeze(options.folder, unreleased=options.unreleased))  # noqa: T201 - the command's output
    except (SuiteError, OSError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
