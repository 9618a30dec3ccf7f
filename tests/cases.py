"""Cases for the gate, small and complete: an honest run and the pieces to spoil it with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from draftgate.canaries import record, summary
from draftgate.canaries.contracts import Finding, Reason, Status
from draftgate.canaries.summary import Case

HEADER = {
    "draftgate": "0.1.0",
    "suite": {"name": "core", "version": "v1", "digest": "ab12"},
    "seed": 0,
    "baseline": {"name": "plain", "dtype": "float32"},
    "candidate": {"name": "draft:k=4", "dtype": "float32"},
    "scope": ["servers under load"],
}
ARM = {"ttft_s": 0.1, "itl_ms": 20.0, "decode_tok_s": 50.0, "e2e_s": 2.5}
SPEED = {
    "ratio": 1.72,
    "low": 1.65,
    "high": 1.79,
    "ratio_of_totals": 1.7,
    "pairs": 24,
    "aa_low": 0.98,
    "aa_high": 1.02,
    "confidence": 0.95,
    "baseline": ARM,
    "candidate": ARM | {"itl_ms": 11.6, "decode_tok_s": 86.2},
}
ACCEPTANCE = {"proposed": 1200, "accepted": 732, "rounds": 300, "tokens_per_round": 3.44, "by_position": [0.82, 0.71]}
CELLS = ("b1", "b8")
REQUIRED = dict.fromkeys(CELLS, ("exact_tokens", "speed"))


def passing(check: str, cell: str, **more: Any) -> Finding:
    """A finding that passed."""
    return Finding(check=check, cell=cell, status=Status.PASS, summary=f"{check} passed", **more)


def failing(check: str, cell: str, reason: Reason = Reason.CORRECTNESS, **more: Any) -> Finding:
    """A finding that failed."""
    return Finding(check=check, cell=cell, status=Status.FAIL, summary=f"{check} failed", reason=reason, **more)


def honest_findings() -> list[Finding]:
    """What an honest candidate gives in both cells."""
    return [
        finding
        for cell in CELLS
        for finding in (
            passing("exact_tokens", cell, seen="one wrong token in 500"),
            passing("speed", cell, figures=SPEED),
            passing("acceptance", cell, figures=ACCEPTANCE),
            Finding(check="law", cell=cell, status=Status.NOT_APPLICABLE, summary="greedy decoding has no law to test"),
        )
    ]


def honest_case(**changes: Any) -> Case:
    """A case that passes."""
    case = Case(
        header=HEADER,
        cells=CELLS,
        findings=honest_findings(),
        required=REQUIRED,
        ledger=[("law", 6e-7), ("forks", 4e-7)],
        guarantee="SAME_LAW",
        claim=None,
        seconds=12.5,
        record_sha256="0" * 64,
    )
    return replace(case, **changes)


def held_case(**changes: Any) -> Case:
    """A case whose engine is at fault in one cell."""
    wrong = failing("exact_tokens", "b8", reproduce=("json-03", "json-07"))
    return honest_case(findings=[*honest_findings(), wrong], **changes)


def judge_record(found: record.Record) -> dict[str, Any]:
    """A judge as `canaries.judge` has one: the record says in `verdict` which case it is."""
    case = honest_case() if found.observations["verdict"] == "PASS" else held_case()
    return summary.summarise(replace(case, header=found.header, record_sha256=found.sha256, seconds=found.seconds))


def write_run(folder: Any, *, verdict: str = "PASS", end: bool | None = False, header: Any = HEADER) -> Any:
    """A run folder with its record and summary. `end`: how the record says it ended; None when it does not."""
    journal = record.Journal.create(folder, header)
    journal.step("verdict", lambda: verdict)
    if end is not None:
        journal.end(interrupted=end)
    journal.close()
    summary.write(judge_record(record.read(folder)), folder)
    return folder
