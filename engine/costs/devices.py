"""The devices of `devices.toml`: what their makers say they compute and read in a second. This machine is measured."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import EngineError

TABLE = Path(__file__).with_name("devices.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """`flops` operations and `bandwidth` bytes a second at most; `memory` bytes."""

    name: str
    title: str
    flops: float
    bandwidth: float
    memory: float


@cache
def devices() -> Mapping[str, Device]:
    """All of them by name, in the order of the table."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {name: Device(name=name, **row) for name, row in rows.items()}


def find(name: str) -> Device:
    """The device of that name. Raises EngineError where there is none."""
    if name not in devices():
        raise EngineError(f"no device {name!r} is known; name one of {', '.join(devices())}")
    return devices()[name]
