"""Words and numbers made fit to print: what a model or a server wrote cannot move the cursor or pose as ours."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

SHOWN = 6  # names listed on one screen; the summary holds all
UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # control, format (bidi), surrogate, line breaks


def clean(text: object) -> str:
    """The text on one line; what does not print is spelled out, the escape character as backslash, x, 1, b."""
    return "".join(_spelled(char) if unicodedata.category(char) in UNPRINTABLE else char for char in str(text))


def some(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    shown = clean(", ".join(names[:SHOWN]))
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def number(value: Any, form: str = ".2f") -> str:
    """The number in a format, or a dash where there is none."""
    return format(value, form) if isinstance(value, (int, float)) and not isinstance(value, bool) else "-"


def interval(low: Any, high: Any) -> str:
    """Both ends, as in `[1.65, 1.79]`."""
    return f"[{number(low)}, {number(high)}]"


def where(name: str, cells: list[str]) -> str:
    """A check and the cells it concerns, as in `greedy (b1, b8)`."""
    return clean(f"{name} ({', '.join(cells)})" if cells else name)


def speed_line(headline: dict[str, Any]) -> str:
    """The interval around a ratio and what it rests on."""
    confidence, pairs = number(headline["confidence"], ".0%"), number(headline["pairs"], ".0f")
    ends = interval(headline["low"], headline["high"])
    turns = f", launched in turn, {launches} launches each" if (launches := headline.get("launches")) else ""
    return f"{ends} at {confidence} confidence, {pairs} pairs, cell {clean(headline['cell'])}{turns}"


def prediction(found: Mapping[str, Any]) -> str:
    """A predicted speed-up and what it rests on."""
    cost = f"{number(found['wider'])} + {number(found['width'], '.3g')} x {number(found['c'])}"
    ends = interval(found["low"], found["high"])
    tokens = number(found["tokens_a_round"])
    return f"{number(found['ratio'])}x  {ends} from {tokens} tokens a round that costs {cost} plain steps"


def above(found: Mapping[str, Any], claim: float | None) -> str:
    """What lies above the bound that a prediction sets; nothing where nothing does."""
    if claim is not None and isinstance(found["high"], (int, float)) and claim > found["high"]:
        return f"The claim lies above what these rounds and their costs allow, {number(found['high'])}x."
    return "The measured speed lies above what these rounds and their costs allow." if found["exceeded"] else ""


def on_what(identity: Mapping[str, Any]) -> list[str]:
    """The models, servers and machine that a run was made on, a line each, as far as its record names them."""
    models = {"model": identity["baseline"].get("model"), "draft": identity["candidate"].get("draft")}
    lines = [
        f"{role} {model.get('model')}: {model.get('architecture')}, {model['parameters'] / 1e6:.2f} M parameters, "
        f"{model.get('dtype')}"
        for role, model in models.items()
        if model and isinstance(model.get("parameters"), int)
    ]
    for role in ("baseline", "candidate"):
        if server := identity[role].get("server"):
            replicas = len(server.get("replicas", ()))
            lines.append(
                f"{role} serves {PurePath(str(server.get('model'))).name}, {replicas} replica{'s' * (replicas > 1)}"
            )
    if kept := identity["baseline"].get("kept"):
        lines.append(f"baseline kept since {kept.get('recorded')}, sha256 {str(kept.get('sha256'))[:12]}")
    if machine := identity.get("machine"):
        lines.append(f"{machine.get('processor')}, {machine.get('cores')} cores, {machine.get('threads')} used")
    return [clean(line) for line in lines]


def odds(rate: float) -> str:
    """How rarely an honest engine is held by chance."""
    if rate <= 0:
        return "No statistical test was made, so none can alarm falsely."
    return f"An honest engine is held by chance at most once in {round(1 / rate):,} runs."


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
