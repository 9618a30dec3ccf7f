"""Reads the text format of Prometheus, as far as counters and gauges need it."""

from __future__ import annotations

import re
from typing import NamedTuple

from .counters import Counters

_SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?[0-9]+)?")
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


class Sample(NamedTuple):
    """One line: a name, its labels, its value."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str) -> list[Sample]:
    """All samples in order. Raises ValueError naming a line that is none."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            continue
        match = _SAMPLE.fullmatch(line)
        if not match:
            raise ValueError(f"{line[:80]!r} is no sample of a metric")
        name, labels, value = match.groups()
        found.append(Sample(name, dict(_LABEL.findall(labels or "")), float(value)))
    return found


def total(found: list[Sample], name: str) -> int | None:
    """The sum of a counter over its labels; None where the server does not have it."""
    values = [sample.value for sample in found if sample.name == name]
    return round(sum(values)) if values else None


def by_label(found: list[Sample], name: str, label: str) -> tuple[int, ...]:
    """A counter at label values 0, 1, 2, ..., summed over the other labels."""
    values: dict[int, float] = {}
    for sample in found:
        if sample.name == name and sample.labels.get(label, "").isdecimal():
            key = int(sample.labels[label])
            values[key] = values.get(key, 0.0) + sample.value
    return tuple(round(values.get(key, 0.0)) for key in range(max(values, default=-1) + 1))


def speculation(text: str, prefix: str, emitted: str) -> Counters:
    """The counters of speculation as vLLM names them behind a `prefix`, and the one of `emitted` tokens."""
    found = samples(text)
    return Counters(
        rounds=total(found, f"{prefix}drafts_total"),
        drafted=total(found, f"{prefix}draft_tokens_total"),
        accepted=total(found, f"{prefix}accepted_tokens_total"),
        emitted=total(found, emitted),
        by_position=by_label(found, f"{prefix}accepted_tokens_per_pos_total", "position"),
    )
