"""Do the sampled tokens of the real model follow the plain law? Kolmogorov-Smirnov on the randomised PIT.

Each emitted token is placed in the plain arm's own law at its own prefix; under an honest engine these places are
independent and uniform, whatever the law was.
"""

from __future__ import annotations

import numpy as np

from ...stats import kolmogorov_smirnov as ks
from ...stats.decision import decide
from ...stats.design import ks_draws
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations.context import seed_of
from .base import STATUS, Case


class PlaceInTheLaw:
    """Tokens of the timed requests, teacher-forced through the plain arm."""

    name = "pit"
    observes = ("pairs", "replays")

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """One test over all tokens."""
        del suite, cell
        return ("uniform",)

    def judge(self, case: Case) -> Finding:
        """Uses n tokens chosen evenly, n being fixed by the suite's effect; fewer are INCOMPLETE."""
        replays = case.observed("replays")
        design, share = case.design, case.share(self.name, "uniform")
        wanted = ks_draws(design.pit_effect, false_alarm=share, miss=design.miss)
        told = [pair for replay in replays["candidate"] for pair in zip(replay["below"], replay["prob"], strict=True)]
        # A server may tell too few of the best tokens to know the law: whether it does is known before the token.
        known = [pair for pair in told if pair != (None, None)] if case.kind == "server" else told
        below, prob = np.array(known, np.float64).reshape(-1, 2).T
        rng = np.random.default_rng(seed_of(case.seed, case.cell.name, "pit"))
        places = ks.randomised_pit(below, prob, rng.uniform(size=len(below)))
        # From all answers alike, not from the first ones; one place that is no number spoils them all.
        values = places if np.isnan(places).any() else rng.permutation(places)[:wanted]
        evidence = ks.uniform_ks(values, hypothesis="sampled tokens follow the plain arm's law at their own prefix")
        planned = ks.design(wanted, false_alarm=share, miss=design.miss)
        status = STATUS[decide(evidence, planned, effect=design.pit_effect)]
        reason = {Status.FAIL: Reason.DISTRIBUTION, Status.INCONCLUSIVE: Reason.INCOMPLETE}.get(status)
        short = max(0, wanted - len(below))
        summary = f"{len(values)} tokens of the model, largest gap {evidence.statistic:.3f}"
        if len(known) < len(told):
            summary += f"; {len(told) - len(known)} of {len(told)} places unknown from the logprobs that are told"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=reason,
            summary=summary if not short else f"{summary}; {short} more are needed",
            evidence=(evidence.to_json(),),
            design=(planned.to_json(),),
            seen=f"a gap of {design.pit_effect} in the CDF of the model's own tokens",
            figures={"tokens": len(below), "gap": None if np.isnan(evidence.statistic) else evidence.statistic},
        )
