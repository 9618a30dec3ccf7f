"""`draftgate doctor`: what each arm of a configuration offers, side by side, and no verdict."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import config
from .arms import opened
from .probe import probe


def rows(path: Path) -> list[dict[str, Any]]:
    """One row a feature. Each arm is launched, probed and stopped before the next. Raises UsageError, ServerError."""
    arms = config.read(path)
    columns = {}
    with TemporaryDirectory() as folder:
        for name, arm in arms.items():
            with opened(arm, Path(folder, f"{name}.log")) as server:
                columns[name] = probe(server)
    pairs = zip(*columns.values(), strict=True)
    return [{"feature": pair[0].name} | {n: _cell(f) for n, f in zip(columns, pair, strict=True)} for pair in pairs]


def _cell(feature: Any) -> str:
    return f"{'yes' if feature.offered else 'no'}: {feature.shown}"
