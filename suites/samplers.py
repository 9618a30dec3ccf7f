"""Suites for samplers: no prompts, only laws to try, effects and error rates, frozen like every other suite.

Digests first, always. Knows nothing about how samplers are called or judged.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import digests
from .errors import SuiteMalformed

if TYPE_CHECKING:
    from collections.abc import Mapping

SHIPPED = Path(__file__).parent / "sampler" / "v1"
SETTINGS, ROWS = "suite.toml", "rows.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Error rates and effects of a run; each says in `suite.toml` what it is."""

    false_alarm: float
    miss: float
    effect: float
    effect_per_sequence: float
    coarsest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wager:
    """Prior weights of the e-process, and when it first looks."""

    weights: tuple[float, ...]
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Rows a call, and how long one may take."""

    batch: int
    per_sequence_batch: int
    large_batch: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Independence:
    """How shared uniforms are looked for."""

    vocabulary: int
    draft_length: int
    batch: int
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Temperature:
    """How far T may be off, and how far off it is looked for."""

    effect: float
    span: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    """How far a drafter's tokens may be from the law it reports."""

    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """How many rows are compared with a reference, and how many may differ by rounding."""

    rows: int
    rate: float
    effect: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Laws that are tried together: their shape, their names, how many times the effect they are planned for."""

    name: str
    vocabulary: int
    draft_length: int
    memory: int
    effect_multiple: float
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerSuite:
    """All numbers of one suite for samplers. `rows` are recorded laws of a target and a draft, from `rows.json`."""

    name: str
    version: str
    purpose: str
    digest: str
    design: Design
    wager: Wager
    calls: Calls
    independence: Independence
    temperature: Temperature
    drafter: Drafter
    reference: Reference
    bundles: tuple[Bundle, ...]
    rows: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]


TABLES = {
    "design": Design,
    "wager": Wager,
    "calls": Calls,
    "independence": Independence,
    "temperature": Temperature,
    "drafter": Drafter,
    "reference": Reference,
}


def load(folder: Path = SHIPPED) -> SamplerSuite:
    """The suite in `folder`, after its files were found to be those that were frozen. Raises a SuiteError."""
    files = digests.verified(folder)
    if SETTINGS not in files:
        raise SuiteMalformed(f"{digests.shown(folder)} has no {SETTINGS}; name the folder of one version")
    recorded = files.get(ROWS, b"[]")
    return parsed(files[SETTINGS], recorded, digests.digest(folder), where=digests.shown(folder / SETTINGS))


def parsed(content: bytes, recorded: bytes, digest: str, *, where: str) -> SamplerSuite:
    """The suite that `content` describes, with the laws of `recorded`. Raises SuiteMalformed in one line."""
    try:
        table = tomllib.loads(content.decode("utf-8"))
        named = {key: _tuples(table.pop(key)) for key in TABLES}
        bundles = tuple(Bundle(**_tuples(row)) for row in table.pop("bundles"))
        rows = tuple((tuple(map(float, p)), tuple(map(float, q))) for p, q in json.loads(recorded))
        return SamplerSuite(
            **table,
            digest=digest,
            bundles=bundles,
            rows=rows,
            **{key: TABLES[key](**values) for key, values in named.items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SuiteMalformed(f"{where}: not a suite for samplers ({error}); compare it with sampler/v1") from error


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
