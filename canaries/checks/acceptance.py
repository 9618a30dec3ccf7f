"""How many drafts were kept, by position; and whether that number is possible.

Greedy: the oracle's drafts are all kept, the adversary's never (the target's own may be refused at a near tie).
Sampled: the first node of a round on the table is kept with chance sum(min(p, q)) (Leviathan et al. 2023, equation for
beta), tested exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...engine.request import Generation, Round
from ...stats import binomial
from ...stats.decision import decide
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations import laws
from ..observations.answers import by_arm, fork
from .base import STATUS, Case, not_observed
from .law import _context
from .variants import idle_variants
from .whole import hole


class Acceptance:
    """Acceptance of the timed rounds is shown; acceptance of rounds whose answer is known is judged."""

    name = "acceptance"
    observes = ("pairs",)

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """One exact binomial test in sampled cells, spent where the rounds on the table are drawn."""
        return () if cell.greedy or cell != suite.law_cell(cell) else ("first node",)

    def judge(self, case: Case) -> Finding:
        """FAIL for an acceptance that the known drafts cannot have."""
        rounds = [r for a in by_arm(case.observed("pairs"), "candidate") for r in a.generation.rounds]
        figures = shown(rounds, case.draft_length)
        return self._greedy(case, figures) if case.cell.greedy else self._sampled(case, figures)

    def _greedy(self, case: Case, figures: dict[str, Any]) -> Finding:
        if why := hole(case, "synthetic"):
            return not_observed(self.name, case, why)
        synthetic = case.observed("synthetic")
        wrong, idle = impossible(synthetic), idle_variants(synthetic["variants"])
        if idle and not wrong:
            return Finding(
                check=self.name,
                cell=case.cell.name,
                status=Status.NOT_EXERCISED,
                reason=Reason.NOT_EXERCISED,
                summary=f"nothing was drafted under {', '.join(idle)}",
                figures=figures,
            )
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if wrong else Status.PASS,
            reason=Reason.METRICS if wrong else None,
            summary="; ".join(wrong)
            or f"{figures['accepted']} of {figures['proposed']} drafts kept; known drafts as they must be",
            figures=figures,
        )

    def _sampled(self, case: Case, figures: dict[str, Any]) -> Finding:
        if why := hole(case, "table"):
            return not_observed(self.name, case, why)
        table = case.observed("table")
        known = laws.table(_context(case), case.law.cell)
        options = case.candidate.get("options", {})
        proposes, accepts = laws.first_acceptance(
            known, laws.law_sampling(case.law.cell, known.target.vocabulary), case.candidate["method"], options
        )
        draws, design = table["draws"], case.suite.design
        words = f"the first draft of a round is kept with chance {accepts:.4f} = sum min(p, q)"
        evidence = binomial.known_rate(table["accepted"], draws, rate=accepts, hypothesis=words)
        share = case.law.share(self.name, "first node")
        planned = binomial.design(draws, rate=accepts, false_alarm=share, miss=design.miss)
        status = STATUS[decide(evidence, planned, effect=design.acceptance_effect)]
        rate = table["accepted"] / max(draws, 1)
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.DISTRIBUTION, Status.INCONCLUSIVE: Reason.INCOMPLETE}.get(status),
            summary=f"first draft kept in {rate:.4f} of rounds, {accepts:.4f} expected (proposed in {proposes:.3f})",
            evidence=(evidence.to_json(),),
            design=(planned.to_json(),),
            seen=f"an acceptance rate off by {planned.detectable:.3f}",
            figures=figures,
        )


def shown(rounds: Iterable[Round], draft_length: int) -> dict[str, Any]:
    """Proposed, accepted, rounds, tokens a round, and the share kept at each position of those proposed there."""
    listed = list(rounds)
    by_position = []
    for place in range(draft_length):
        offered = sum(r.drafted > place for r in listed)
        by_position.append(sum(r.accepted > place for r in listed) / offered if offered else None)
    return {
        "proposed": sum(r.drafted for r in listed),
        "accepted": sum(r.accepted for r in listed),
        "rounds": len(listed),
        "tokens_per_round": sum(r.emitted for r in listed) / len(listed) if listed else None,
        "by_position": by_position,
    }


def impossible(synthetic: Mapping[str, Any]) -> list[str]:
    """What drafters with a known outcome achieved and cannot have; forked answers are for other checks to judge."""
    plain = {g["name"]: tuple(g["tokens"]) for g in synthetic["plain"]}
    wrong = []
    for label, kept in (("oracle", True), ("odd-even", True), ("adversary", False)):
        for generation in map(Generation.from_json, synthetic["variants"].get(label, {}).get("generations", [])):
            if fork(generation.name, "", plain[generation.name], generation.tokens):
                continue
            if any(r.accepted != (r.drafted if kept else 0) for r in generation.rounds):
                wrong.append(f"{label}: {generation.name} kept a share of drafts that is impossible")
    return wrong
