"""The law of a whole round, against laws that are known exactly: chi-square on the first K + 1 tokens.

Draws follow from the suite's effect and error rates before any is made.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...stats import binomial, chi_square, support
from ...stats.counts import cells_after_pooling
from ...stats.decision import Decision, decide
from ...stats.design import Design, binomial_detectable, rate_draws
from ...stats.evidence import Evidence
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations import laws
from ..observations.context import Context
from .base import Case, worst

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One law that was compared: what the data say, what they could have said, and the decision."""

    evidence: Evidence
    design: Design
    decision: Decision

    @property
    def words(self) -> str:
        """How far the draws are from the law."""
        distance = self.evidence.details.get("total_variation")
        if distance is None:
            return f"{self.evidence.statistic:.0f} of {self.evidence.n} draws speak against it"
        return f"distance {distance:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """This test's share of the false-alarm budget, and the suite's miss and effect."""

    share: float
    miss: float
    effect: float


def compare(counts: Sequence[int], law: Floats, hypothesis: str, rates: Rates) -> Judged:
    """The test that fits the law: one forbidden outcome is proof; a law with a single outcome has nothing else to show.

    A law of which thin-cell merging leaves a single cell is tested exactly, on its likeliest outcome against the rest.
    """
    observed = np.asarray(counts)
    draws, forbidden = int(observed.sum()), int(observed[law == 0].sum())
    chances = {"false_alarm": rates.share, "miss": rates.miss}
    if forbidden or not draws or (law > 0).sum() == 1:
        evidence = support.outside_support(forbidden, draws, hypothesis=hypothesis)
        design = support.design(max(draws, 1), **chances)
    elif cells_after_pooling(law, draws, floor=chi_square.expected_floor(rates.share)) == 1:
        best = int(law.argmax())
        evidence = binomial.known_rate(int(observed[best]), draws, rate=float(law[best]), hypothesis=hypothesis)
        design = binomial.design(draws, rate=float(law[best]), **chances)
    else:
        floor = chi_square.expected_floor(rates.share)
        evidence = chi_square.goodness_of_fit(observed, law, hypothesis=hypothesis, floor=floor)
        design = chi_square.design(draws, law, **chances)
    return Judged(evidence=evidence, design=design, decision=decide(evidence, design, effect=rates.effect))


MOST_DRAWS = 1 << 22  # rounds that a suite may ask for: minutes, not hours


class LawOfARound:
    """The candidate's engine on a table and on recorded rows follows the target's own law."""

    name = "law"
    observes = ("table", "rows", "recorded")

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """The first token, the joint law on the table, and the recorded rows, whose positions share evenly.

        None in a cell that is judged by another cell's draws: what they may spend is spent there.
        """
        return ("first", "table", "rows") if cell == suite.law_cell(cell) else ()

    def judge(self, case: Case) -> Finding:
        """FAIL for one law that does not fit."""
        table, rows, recorded = case.observed("table"), case.observed("rows"), case.observed("recorded")
        if short := table["short"] + rows["short"]:
            return self._too_short(case, short)
        judged = {**self._table(case.law, table), **self._rows(case.law, rows, recorded)}
        failed = [test for test, one in judged.items() if one.decision is Decision.FAIL]
        status = worst([one.decision for one in judged.values()])
        weakest = max(one.design.detectable for one in judged.values())
        merged = max(one.evidence.details.get("pooled_mass", 0.0) for one in judged.values())
        distance = max(one.evidence.details.get("total_variation", 0.0) for one in judged.values())
        summary = f"{table['draws']} rounds on the table, {rows['draws']} on recorded rows"
        if failed:
            summary += "; not the target's law: " + ", ".join(f"{test} ({judged[test].words})" for test in failed)
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=Reason.DISTRIBUTION if failed else Reason.INCOMPLETE if status != "PASS" else None,
            summary=summary,
            evidence=tuple(one.evidence.to_json() for one in judged.values()),
            design=tuple(one.design.to_json() for one in judged.values()),
            seen=f"a law off by a total variation of {weakest:.3f} once its rarest {merged:.0%} count as one outcome, "
            f"where {case.suite.law.batch} rows are decoded at once",
            figures={"draws_table": table["draws"], "draws_rows": rows["draws"], "total_variation": distance},
        )

    def _too_short(self, case: Case, short: int) -> Finding:
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL,
            reason=Reason.CORRECTNESS,
            summary=f"{short} answers on known laws ended before their limit, though nothing ends them there",
            figures={"short": short},
        )

    def _table(self, case: Case, table: Any) -> dict[str, Judged]:
        known = laws.table(_context(case), case.cell)
        sampling = laws.law_sampling(case.cell, known.target.vocabulary)
        length = case.suite.law.draft_length + 1
        first, joint = laws.first_law(known, sampling), laws.round_law(known, sampling, length)
        return {
            "first": self._judged(
                case, case.share(self.name, "first"), table["first"], first, "the first token follows p"
            ),
            "table": self._judged(
                case, case.share(self.name, "table"), table["counts"], joint, f"the next {length} tokens follow p"
            ),
        }

    def _rows(self, case: Case, rows: Any, recorded: Any) -> dict[str, Judged]:
        target, draft = np.array(recorded["target"]), np.array(recorded["draft"])
        known = laws.rows(_context(case), case.cell, target, draft)
        length = laws.spanned(case.draft_length)
        share = case.share(self.name, "rows") / length
        found = {}
        for place, law in enumerate(
            laws.row_laws(known, laws.law_sampling(case.cell, known.target.vocabulary), length)
        ):
            test = f"row {place}"
            words = f"token {place + 1} after the first follows its recorded row"
            found[test] = self._judged(case, share, rows["counts"][place], law, words)
        return found

    @staticmethod
    def _judged(case: Case, share: float, counts: Sequence[int], law: Floats, hypothesis: str) -> Judged:
        design = case.suite.design
        rates = Rates(share=share, miss=design.miss, effect=design.law_effect)
        return compare(counts, law, hypothesis, rates)


def draws_needed(law: Floats, suite: Suite, share: float) -> int:
    """Draws whose design sees the suite's effect in this law, whether or not thin cells are merged.

    Of a point mass one forbidden token is proof: enough to meet one at a rate of that effect.
    """
    if (law > 0).sum() == 1:
        return rate_draws(suite.design.law_effect, miss=suite.design.miss)
    return chi_square.draws(law, effect=suite.design.law_effect, false_alarm=share, miss=suite.design.miss)


def table_draws(context: Context, cell: Cell, share: float) -> int:
    """Draws on the table for its joint law; they are enough for the first token's law too."""
    length = context.suite.law.draft_length + 1
    known = laws.table(context, cell)
    sampling = laws.law_sampling(cell, known.target.vocabulary)
    joint = draws_needed(laws.round_law(known, sampling, length), context.suite, share)
    first = draws_needed(laws.first_law(known, sampling), context.suite, share)
    return max(joint, first, acceptance_draws(context.suite, share))


def acceptance_draws(suite: Suite, share: float) -> int:
    """Rounds whose first draft shows the suite's acceptance effect at the rate where it shows least, one half."""
    rates = {"false_alarm": share, "miss": suite.design.miss}
    enough = lambda n: binomial_detectable(n, 0.5, **rates) <= suite.design.acceptance_effect  # noqa: E731
    return bisect_left(range(1, MOST_DRAWS), x=True, key=enough) + 1


def row_draws(context: Context, cell: Cell, recorded: Any, share: float) -> int:
    """Draws on recorded rows for the position that needs most; `share` is that of all positions together."""
    known = laws.rows(context, cell, np.array(recorded["target"]), np.array(recorded["draft"]))
    length = laws.spanned(context.candidate.draft_length)
    needed = laws.row_laws(known, laws.law_sampling(cell, known.target.vocabulary), length)
    return max(draws_needed(law, context.suite, share / length) for law in needed)


def _context(case: Case) -> Any:
    """Seed and suite are all that a law is made from: no target is called."""
    return Context(suite=case.suite, baseline=None, candidate=None, seed=case.seed)  # type: ignore[arg-type]
