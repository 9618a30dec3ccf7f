"""The arguments of `draftgate roofline`. Imports nothing heavy: read at every start.

Without any of them the command works out the example of the seeds: 70 billion parameters in BF16 on an H100, and four
drafts a round of which each is kept with chance 0.8.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from ..samplers.options import positive

DEVICE, PARAMETERS, BYTES, ACCEPTANCE, K = "h100-sxm5", 70e9, 2.0, 0.8, 4
LONGEST, MOST = 8, 512
LARGEST = 1 << 14  # of any count: a batch no larger is looked at one by one
ROWS, WIDTHS, TURNS, CONTEXT = (1, 4, 16, 64), (1, 2, 3, 5, 9), 15, 64


def roofline(parser: argparse.ArgumentParser) -> None:
    """What can be asked about speed."""
    add = parser.add_argument
    add("device", nargs="?", default=DEVICE, metavar="DEVICE", help=f"of engine/costs/devices.toml (default: {DEVICE})")
    add("--parameters", type=positive, default=PARAMETERS, metavar="N", help="of the target (default: 70e9)")
    add("--bytes", type=positive, default=BYTES, metavar="N", help="of each parameter (default: 2)")
    add("--cached", type=amount, default=0.0, metavar="BYTES", help="of cache that a pass reads for a row (default: 0)")
    add("--draft", type=positive, metavar="N", help="parameters of the draft (default: drafting costs nothing)")
    add("--acceptance", type=share, default=ACCEPTANCE, metavar="A", help="chance to keep a draft (default: 0.8)")
    add("--k", type=count, default=K, metavar="K", help="drafts a round (default: 4)")
    add("--longest", type=count, default=LONGEST, metavar="K", help="most drafts looked at (default: 8)")
    add("--most", type=count, default=MOST, metavar="B", help="largest batch looked at (default: 512)")
    measured = parser.add_mutually_exclusive_group()
    measured.add_argument("--measure", action="store_true", help="this machine, by passes of models, not a device")
    measured.add_argument("--measured", type=Path, metavar="FILE", help="what --save kept, not a device")
    add("--model", type=Path, metavar="PATH", help="target to measure (default: the one that ships)")
    add("--draft-model", type=Path, metavar="PATH", help="draft to measure (default: the one that ships)")
    add("--rows", type=counts, default=ROWS, metavar="B,B", help="batches to measure (default: 1,4,16,64)")
    add("--widths", type=counts, default=WIDTHS, metavar="W,W", help="tokens a row (default: 1,2,3,5,9)")
    add("--turns", type=count, default=TURNS, metavar="N", help="times of each pass (default: 15)")
    add("--context", type=count, default=CONTEXT, metavar="N", help="tokens behind which they are made (default: 64)")
    add("--save", type=Path, metavar="FILE", help="keep what was measured")


def count(text: str) -> int:
    """A whole number from 1 to `LARGEST`."""
    if not (text.isdecimal() and 1 <= int(text) <= LARGEST):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to {LARGEST}")
    return int(text)


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} does not lie from 0 to 1; give a number such as {ACCEPTANCE}")
    return value


def amount(text: str) -> float:
    """A finite number from 0."""
    return 0.0 if text in ("0", "0.0") else positive(text)


def counts(text: str) -> tuple[int, ...]:
    """Different whole numbers of 1 or more, between commas, in order."""
    return tuple(sorted({count(part) for part in text.split(",")}))
