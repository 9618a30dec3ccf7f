"""Can this be called as the adapter calls it? Told before any draw: what came, what is expected, what would fit."""

from __future__ import annotations

import inspect
from typing import Any

from ...errors import UsageError

ARGUMENTS = {"vllm": 8, "tree": 5}
"""Positional arguments that the functions of an adapter are given, where it is not 4."""
USUAL = 4
WHOLE = "engine"
"""The adapter that takes an object with a method `verify`, not a function."""


def check(found: Any, adapter: str) -> None:
    """Raises UsageError, in one line, where `found` is nothing that `adapter` can call."""
    if adapter == "pair":
        return  # its own adapter looks
    if isinstance(found, tuple):
        raise UsageError(
            "it is a tuple, not one function; a (drafter, sampler) goes with --as pair, or make it a "
            "draftgate.testing.Pair"
        )
    if inspect.isclass(found):
        raise UsageError(f"{_kind(found)} is a class; name an instance of it, or a function")
    if hasattr(found, "verify") != (adapter == WHOLE):
        fits = "give --as engine" if adapter != WHOLE else "--as engine takes an object with a method verify"
        raise UsageError(f"{_kind(found)} {'has' if adapter != WHOLE else 'has no'} method verify; {fits}")
    if adapter == WHOLE:
        return
    if wrong := _waits(found):
        raise UsageError(f"{_kind(found)} is {wrong}; a sampler is a plain function that returns its tokens")
    _count(found, adapter)


def _kind(found: Any) -> str:
    return getattr(found, "__name__", type(found).__name__)


def _waits(found: Any) -> str:
    """What a function is that hands back something to wait for instead of tokens."""
    for one in (found, getattr(found, "__call__", None)):  # noqa: B004 - the method, not whether there is one
        if inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one):
            return "an async function"
        if inspect.isgeneratorfunction(one):
            return "a generator function"
    return ""


def _count(found: Any, adapter: str) -> None:
    wanted = ARGUMENTS.get(adapter, USUAL)
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return  # builtins tell nothing about theirs
    if _takes(signature, wanted):
        return
    others = [name for name, count in {"batch": USUAL, **ARGUMENTS}.items() if _takes(signature, count)]
    fits = f"; --as {' or '.join(others)} would call it with as many as it takes" if others else ""
    raise UsageError(f"{_kind(found)}{signature} cannot take the {wanted} arguments of --as {adapter}{fits}")


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
