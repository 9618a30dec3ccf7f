"""What a single recorded value may be: one question a type, asked by `ranges` of every value."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

EXACT = 2**53  # whole numbers up to here are told apart as floats; no count and no id comes near it
ROUNDING = 1e-9  # by which masses that sum to one in float64 may miss it; a changed entry misses it by more


class Missing(NamedTuple):
    """A shape in whose place nothing may stand."""

    shape: Any


class Optional(NamedTuple):
    """The shape of a key that may be left out."""

    shape: Any


def integer(value: Any) -> bool:
    """An integer; what a count must be is for `algebra` to say."""
    return type(value) is int and -EXACT <= value <= EXACT


def count(value: Any) -> bool:
    """An integer of at least 0."""
    return type(value) is int and 0 <= value <= EXACT


def above(value: Any) -> bool:
    """An integer of at least 1."""
    return type(value) is int and 0 < value <= EXACT


def amount(value: Any) -> bool:
    """A finite number of at least 0: seconds, or logits."""
    return type(value) in (int, float) and 0 <= value <= sys.float_info.max


def mass(value: Any) -> bool:
    """A probability, or nothing where it is no number: what lacks one is told by the check that reads it."""
    return value is None or (amount(value) and value <= 1 + ROUNDING)


def distance(value: Any) -> bool:
    """Logits by which a token misses the best, or nothing where they are no number: that explains no fork."""
    return value is None or amount(value)


def log_mass(value: Any) -> bool:
    """The natural logarithm of a probability above 0."""
    return type(value) in (int, float) and -sys.float_info.max <= value <= ROUNDING


def text(value: Any) -> bool:
    """A string."""
    return type(value) is str


def mark(value: Any) -> bool:
    """0 or 1."""
    return type(value) is int and value in (0, 1)


def marked(value: Any) -> bool:
    """0 or 1, or nothing where neither can be told."""
    return value is None or mark(value)


def token(value: Any) -> bool:
    """An id, or a token's name where a server tells no ids."""
    return count(value) or text(value)


def told(value: Any) -> bool:
    """A log probability, or nothing where none was told."""
    return value is None or log_mass(value)


def anything(value: Any) -> bool:
    """Whatever a server reports of itself."""
    del value
    return True


def ending(value: Any) -> bool:
    """A finish reason."""
    return value in ("eos", "stop", "length")
