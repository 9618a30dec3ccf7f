"""The verdict on a sampler: PASS once every designed draw was made and every test passed, HOLD once one failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from ... import __version__
from .. import gate
from ..contracts import Finding, Reason, Status
from ..errors import ContractBroken
from ..report.progress import Progress
from .interface import Pair, Sampler
from .run import Drawn, Options, Run

CONTRACT = "contract"
Say = Callable[[str], None]
Look = Callable[[], Finding | None]


def judge(
    sampler: Sampler | Pair, options: Options, progress: Progress, say: Say, look: Look = lambda: None
) -> dict[str, Any]:
    """The summary of one run, as plain values. `say` is told, before any draw that counts, what will be done.

    `look` may answer with a finding that refutes the sampler: then nothing is drawn.
    Raises UsageError for a budget that buys nothing, SamplerFailed where the sampler raises or hangs.
    """
    started = time.monotonic()
    run = Run(sampler, options)
    try:
        run.prepare()
        say(run.promise())
        refuted = look()
        drawn = Drawn([refuted], stopped_early=True) if refuted else run.draw(progress)
    except ContractBroken as error:
        drawn = Drawn([_broken(error)], stopped_early=True)
    finally:
        progress.close()
    return summary(run, drawn, time.monotonic() - started)


def summary(run: Run, drawn: Drawn, seconds: float) -> dict[str, Any]:
    """The run as one document."""
    plan, suite, options = run.plan, run.suite, run.options
    required = {} if drawn.stopped_early or not plan else run.required()
    for finding in drawn.findings:
        required.setdefault(finding.cell, set()).add(finding.check)
    cells = [gate.cell_verdict(cell, drawn.findings, required[cell]) for cell in required]
    verdict = gate.run_verdict(cells)
    return {
        "draftgate": __version__,
        "sampler": options.name,
        "verdict": str(verdict.verdict),
        "reasons": verdict.reasons,
        "rule": options.rule,
        "suite": {"name": suite.name, "version": suite.version, "digest": suite.digest},
        "seed": options.seed,
        "dtype": str(options.dtype).removeprefix("torch."),
        "device": options.device,
        "effect": plan.effect if plan else None,
        "rounds": plan.total_rounds if plan else 0,
        "expected_seconds": run.seconds,
        "seconds": seconds,
        "stopped_early": drawn.stopped_early,
        "hints": drawn.hints,
        "tokens_a_round": drawn.emitted,
        "most": {
            "draft_length": max(bundle.draft_length for bundle in run.bundles),
            "vocabulary": max(bundle.vocabulary for bundle in run.bundles),
            "rows": run.batch,
        },
        "findings": drawn.findings,
        "ledger": [{"test": row.name, "share": row.share} for row in (plan.ledger.rows() if plan else [])],
        "false_alarm": suite.design.false_alarm,
        "miss": suite.design.miss,
    }


def failed(findings: Iterable[Finding]) -> list[Finding]:
    """Those that speak against the sampler."""
    return [finding for finding in findings if finding.status == Status.FAIL]


def _broken(error: ContractBroken) -> Finding:
    return Finding(check=CONTRACT, cell=CONTRACT, status=Status.FAIL, reason=Reason.CORRECTNESS, summary=str(error))
