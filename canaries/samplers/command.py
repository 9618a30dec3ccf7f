"""What `draftgate sampler` does: loads, judges, prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Protocol

import torch

from ..contracts import Finding, Reason
from ..errors import UsageError
from ..reasons import CULPRITS, REASONS
from ..report.progress import Progress, progress
from ..report.text import clean
from . import exact
from .adapters.registry import adapt
from .interface import Adapted, Pair, Sampler
from .judge import CONTRACT, Say, judge
from .loading import load
from .proofs.custom import SamplerProof
from .run import Options

DTYPES = {"float32": torch.float32, "float64": torch.float64}
NO_LAW = frozenset({"independence", "reference"})
"""Checks of rounds beside others: what they find does not show on the law of one round."""


class Asked(Protocol):
    """The command line of `draftgate sampler`."""

    sampler: str
    adapter: str
    rule: str
    reference: str | None
    seed: int
    effect: float | None
    budget: float | None
    limit: float | None
    dtype: str
    device: str


def run(asked: Asked, *, quiet: bool) -> dict[str, Any]:
    """The summary of one sampler; its first line is printed before the draws unless `quiet`."""
    _check_device(asked.device)
    sampler = adapted(asked.sampler, asked.adapter)
    options = Options(
        name=asked.sampler,
        rule=asked.rule,
        reference=adapted(asked.reference, asked.adapter) if asked.reference else None,
        seed=asked.seed,
        effect=asked.effect,
        budget=asked.budget,
        limit=asked.limit,
        dtype=DTYPES[asked.dtype],
        device=asked.device,
    )
    return examined(sampler, options, progress(), _silent if quiet else _say)


def examined(
    sampler: Sampler | Pair, options: Options, shown: Progress, say: Say, *, minimal: bool = True
) -> dict[str, Any]:
    """The summary with what enumeration showed and, with `minimal`, the smallest laws where the law is wrong."""
    proof: SamplerProof | None = None

    def look() -> Finding | None:
        nonlocal proof
        proof = exact.look(sampler, options)
        return exact.finding(proof) if proof.broken else None

    summary = judge(sampler, options, shown, say, look)
    summary["exact"] = exact.plain(proof) if proof else None
    if proof and proof.broken:
        return {**summary, "example": proof.example(named(summary))}
    return {**summary, "example": example(sampler, summary) if minimal else ""}


def adapted(named: str, adapter: str) -> Sampler | Pair:
    """What `named` names, adapted to a sampler; what is adapted already, and a Pair, stay as they are."""
    try:
        return adapt(load(named), adapter)
    except UsageError as error:
        raise UsageError(str(error) if named in str(error) else f"{named}: {error}") from error


def text(summary: Mapping[str, Any]) -> str:
    """The verdict for people: what was found, or what was looked at and how finely."""
    lines = [f"{summary['verdict']}  {clean(summary['sampler'])}  ({summary['seconds']:.1f} s)"]
    by_reason: dict[str, list[Any]] = {}
    for held in summary["reasons"]:
        by_reason.setdefault(str(held.reason), []).append(held)
    for reason, several in sorted(by_reason.items(), key=lambda r: CULPRITS.index(REASONS[Reason(r[0])].culprit)):
        row = REASONS[Reason(reason)]
        lines.append(f"{reason} ({row.culprit})")
        lines += [f"  - {held.check} ({held.cell}): {clean(held.summary)}" for held in several]
    if {finding.check for finding in summary["findings"]} == {CONTRACT}:
        return "\n".join(lines) + "\n"  # nothing else was judged
    lines += [f"  also: {clean(hint)}" for hint in summary["hints"]]
    lines += _table(summary["findings"])
    lines += _exactly(summary.get("exact"))
    share = summary["false_alarm"] / max(1, len(summary["ledger"]))
    lines.append(
        f"ledger: {summary['false_alarm']:g} a run over {len(summary['ledger'])} tests, {share:.2g} each; "
        f"miss {summary['miss']:g} at the effects named"
    )
    lines.append(_lengths(summary))
    if summary["verdict"] == "PASS":
        lines.append(_beyond(summary))
    return "\n".join([*lines, summary.get("example", "")]).rstrip() + "\n"


def example(sampler: Sampler | Pair, summary: Mapping[str, Any]) -> str:
    """The smallest laws on which a wrong law shows, with a test to paste; nothing where none was found."""
    from .minimal import minimal, settings_for

    slow = isinstance(sampler, Adapted)
    if isinstance(sampler, Adapted) and (sampler.parents or sampler.chosen or sampler.greedy):
        return ""
    if not any(held.reason == Reason.DISTRIBUTION and held.check not in NO_LAW for held in summary["reasons"]):
        return ""
    found = minimal(sampler, settings_for(summary["seed"], 512 if slow else 4096, 10.0))
    if found is None:
        return ""
    return f"{found.text()}\n\n{found.test(named(summary))}"


def named(summary: Mapping[str, Any]) -> str:
    """The sampler's own name, as a test may carry it."""
    return str(summary["sampler"]).rpartition(":")[2].replace(".", "_")


def _table(findings: Any) -> list[str]:
    """One line a finding: what was tested, how it ended, how many draws, the smallest effect seen."""
    rows = [(f.check, f.cell, str(f.status), _draws(f), f.seen) for f in findings]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
    return ["  ".join(word.ljust(w) for word, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _exactly(found: Mapping[str, Any] | None) -> list[str]:
    """What enumeration showed where it did not refute the sampler."""
    if found is None or found["distance"]:
        return []
    return [f"exact: {clean(found['told'])}"]


def _beyond(summary: Mapping[str, Any]) -> str:
    """What a PASS says nothing about."""
    most = summary["most"]
    other = {"float32": "float64", "float64": "float32"}[summary["dtype"]]
    return (
        f"not looked at: K > {most['draft_length']}, V > {most['vocabulary']:,}, more than {most['rows']:,} rows a "
        f"call, rows of one call with drafts of different lengths, laws in {other} or half precision, devices other "
        f"than {summary['device']}, chance shared by rows that lie at no fixed distance"
    )


def _lengths(summary: Mapping[str, Any]) -> str:
    """How many tokens rounds emit: judged for a declared rule only."""
    told = ", ".join(f"{name} {mean:.2f}" for name, mean in summary["tokens_a_round"].items())
    judged = "shown, not judged: no --rule" if summary["rule"] == "unknown" else f"judged as {summary['rule']}"
    return f"tokens a round ({judged}): {told}" if told else ""


def _draws(finding: Any) -> str:
    return f"{finding.evidence[0]['n']:,} draws" if finding.evidence else ""


def _check_device(device: str) -> None:
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"--device {device}: there is no such device here; use --device cpu")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _silent(_: str) -> None:
    pass
