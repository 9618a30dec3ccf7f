"""The arguments of `draftgate sampler` and `draftgate plan`. Imports nothing heavy: it is read at every start."""

from __future__ import annotations

import argparse
import math

SIGNATURES = (
    "batch",
    "per-sequence",
    "numpy-sequence",
    "numpy",
    "logits",
    "greedy",
    "chosen",
    "vllm",
    "jax",
    "tree",
    "engine",
    "pair",
)
RULES = ("token", "block", "multi-draft", "unknown")


def sampler(parser: argparse.ArgumentParser) -> None:
    """What can be asked about a sampler."""
    add = parser.add_argument
    add("sampler", metavar="CALLABLE", help="module:name or file.py:name")
    add("--as", dest="adapter", choices=SIGNATURES, default="batch", help="its signature (default: batch)")
    add("--rule", choices=RULES, default="unknown", help="judge also where rounds end, as this rule does")
    add("--reference", metavar="CALLABLE", help="another that must give the same tokens on the same seed")
    add("--effect", type=fraction, metavar="TV", help="total variation to find (default: the suite's)")
    add("--budget", type=positive, metavar="SECONDS", help="draw no longer: finds larger effects only")
    add("--seed", type=natural, default=0, metavar="N", help="default: 0")
    add("--limit", type=positive, metavar="SECONDS", help="the most that one call may take")
    add("--dtype", choices=("float32", "float64"), default="float32", help="of laws (default: float32)")
    add("--device", default="cpu", metavar="NAME", help="where the tensors are (default: cpu)")


def plan(parser: argparse.ArgumentParser) -> None:
    """What can be planned."""
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--effect", type=fraction, metavar="SIZE", help="effect to find (default: the suite's)")
    asked.add_argument("--draws", type=several, metavar="N", help="draws that can be made")
    asked.add_argument("--budget", type=positive, metavar="SECONDS", help="time to draw in, at --rate")
    add = parser.add_argument
    add("--cells", type=several, default=32, metavar="N", help="outcomes that are counted (default: 32)")
    add("--rate", type=positive, default=1e6, metavar="N", help="draws a second (default: 1000000)")
    add("--false-alarm", type=fraction, metavar="RATE", help="default: the suite's")
    add("--miss", type=fraction, metavar="RATE", help="default: the suite's")


def fraction(text: str) -> float:
    """A number between 0 and 1."""
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1; give a number such as 0.01")
    return value


def positive(text: str) -> float:
    """A finite number above 0."""
    value = _number(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is not above 0; give a number such as 1.8")
    return value


def natural(text: str) -> int:
    """A whole number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no seed; give a whole number from 0")
    return int(text)


def several(text: str) -> int:
    """A whole number above 1."""
    if not (text.isdecimal() and int(text) > 1):
        raise argparse.ArgumentTypeError(f"{text} is no number of draws or cells; give a whole number above 1")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
