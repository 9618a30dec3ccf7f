"""The law of a whole round, against laws that are known exactly: chi-square on the first K + 1 tokens.

Draws follow from the suite's effect and error rates before any is made. Most are made many rows at once; some at the
batch that the cell decodes, since an engine may take another path there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...stats import binomial, chi_square, support
from ...stats import kolmogorov_smirnov as ks
from ...stats.counts import cells_after_pooling
from ...stats.decision import Decision, decide
from ...stats.design import Design, binomial_detectable, ks_draws, rate_draws
from ...stats.evidence import Evidence
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations import laws, own_batch
from ..observations.context import Context, seed_of
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
        if self.evidence.test == ks.TEST:
            return f"gap {self.evidence.statistic:.3f}"
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
        return _outside(forbidden, draws, hypothesis, rates)
    if cells_after_pooling(law, draws, floor=chi_square.expected_floor(rates.share)) == 1:
        best = int(law.argmax())
        evidence = binomial.known_rate(int(observed[best]), draws, rate=float(law[best]), hypothesis=hypothesis)
        design = binomial.design(draws, rate=float(law[best]), **chances)
    else:
        floor = chi_square.expected_floor(rates.share)
        evidence = chi_square.goodness_of_fit(observed, law, hypothesis=hypothesis, floor=floor)
        design = chi_square.design(draws, law, **chances)
    return Judged(evidence=evidence, design=design, decision=decide(evidence, design, effect=rates.effect))


def _outside(forbidden: int, draws: int, hypothesis: str, rates: Rates) -> Judged:
    evidence = support.outside_support(forbidden, draws, hypothesis=hypothesis)
    design = support.design(max(draws, 1), false_alarm=rates.share, miss=rates.miss)
    return Judged(evidence=evidence, design=design, decision=decide(evidence, design, effect=rates.effect))


MOST_DRAWS = 1 << 22  # rounds that a suite may ask for: minutes, not hours


class LawOfARound:
    """The candidate's engine on a table and on recorded rows follows the target's own law."""

    name = "law"
    observes = ("table", "rows", "recorded", "own_batch")

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """The first token, the joint law on the table, and the recorded rows, whose positions share evenly.

        In a cell that is judged by another cell's draws only what is drawn at its own batch: the rest is spent there.
        """
        return ("first", "table", "rows", "own batch") if cell == suite.law_cell(cell) else ("own batch",)

    def judge(self, case: Case) -> Finding:
        """FAIL for one law that does not fit."""
        table, rows, recorded = case.observed("table"), case.observed("rows"), case.observed("recorded")
        few = case.observed("own_batch")
        cut = sum(len(answer) < own_batch.LONG for answer in few["answers"])
        if short := table["short"] + rows["short"] + cut:
            return self._too_short(case, short)
        many = {**self._table(case.law, table), **self._rows(case.law, rows, recorded)}
        judged = many | (own := self._own_batch(case, few["answers"]))
        failed = [test for test, one in judged.items() if one.decision is Decision.FAIL]
        status = worst([one.decision for one in judged.values()])
        weakest = max(one.design.detectable for one in many.values())
        merged = max(one.evidence.details.get("pooled_mass", 0.0) for one in many.values())
        distance = max(one.evidence.details.get("total_variation", 0.0) for one in many.values())
        summary = (
            f"{table['draws']} rounds on the table, {rows['draws']} on recorded rows, "
            f"{next(iter(own.values())).evidence.n} tokens {_at_once(case.cell.batch)}"
        )
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
            f"where {case.suite.law.batch} rows are decoded at once; a gap of "
            f"{max(one.design.detectable for one in own.values()):.3f} in the CDF of tokens "
            f"{_at_once(case.cell.batch)}",
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

    def _own_batch(self, case: Case, answers: list[list[int]]) -> dict[str, Judged]:
        """Each token's place in its own law, in two orders; a token that its law forbids is proof."""
        context = _context(case)
        known = own_batch.far(context, case.cell)
        placed = own_batch.place(known, laws.law_sampling(case.cell, known.target.vocabulary), answers)
        rates = _own_batch_rates(case.suite, case.share(self.name, "own batch"))
        if forbidden := int((placed.mass == 0).sum()):
            words = f"a token that its law forbids {_at_once(case.cell.batch)}"
            return {"own batch": _outside(forbidden, len(placed.mass), words, rates)}
        uniforms = np.random.default_rng(seed_of(case.seed, case.cell.name, "own batch")).uniform(size=len(placed.mass))
        found = {}
        for order, below in (("likelihood", placed.likelihood), ("target over draft", placed.ratio)):
            places = ks.randomised_pit(below, placed.mass, uniforms)
            evidence = ks.uniform_ks(places, hypothesis=f"by {order}, tokens follow p {_at_once(case.cell.batch)}")
            design = ks.design(len(places), false_alarm=rates.share, miss=rates.miss)
            decision = decide(evidence, design, effect=rates.effect)
            found[f"own batch by {order}"] = Judged(evidence=evidence, design=design, decision=decision)
        return found

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
        return compare(counts, law, hypothesis, _law_rates(case.suite, share))


def _at_once(batch: int) -> str:
    return "where one row is decoded alone" if batch == 1 else f"where {batch} are decoded at once"


def draws_needed(law: Floats, rates: Rates) -> int:
    """Draws whose design sees the effect in this law, whether or not thin cells are merged.

    Of a point mass one forbidden token is proof: enough to meet one at a rate of that effect.
    """
    if (law > 0).sum() == 1:
        return rate_draws(rates.effect, miss=rates.miss)
    return chi_square.draws(law, effect=rates.effect, false_alarm=rates.share, miss=rates.miss)


def table_draws(context: Context, cell: Cell, share: float) -> int:
    """Draws on the table for its joint law; they are enough for the first token's law too."""
    length = context.suite.law.draft_length + 1
    known = laws.table(context, cell)
    sampling = laws.law_sampling(cell, known.target.vocabulary)
    rates = _law_rates(context.suite, share)
    joint = draws_needed(laws.round_law(known, sampling, length), rates)
    first = draws_needed(laws.first_law(known, sampling), rates)
    return max(joint, first, acceptance_draws(context.suite, share))


def own_batch_tokens(suite: Suite, share: float) -> int:
    """Tokens at a cell's own batch after which their places show the suite's effect, in either order."""
    rates = _own_batch_rates(suite, share)
    return ks_draws(rates.effect, false_alarm=rates.share, miss=rates.miss)


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
    return max(draws_needed(law, _law_rates(context.suite, share / length)) for law in needed)


def _own_batch_rates(suite: Suite, share: float) -> Rates:
    """Tokens are placed in two orders, which halve the share."""
    return Rates(share=share / 2, miss=suite.design.miss, effect=suite.design.own_batch_effect)


def _law_rates(suite: Suite, share: float) -> Rates:
    return Rates(share=share, miss=suite.design.miss, effect=suite.design.law_effect)


def _context(case: Case) -> Any:
    """Seed and suite are all that a law is made from: no target is called."""
    return Context(suite=case.suite, baseline=None, candidate=None, seed=case.seed)  # type: ignore[arg-type]
