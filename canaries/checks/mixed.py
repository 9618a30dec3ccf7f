"""Has every row of a mixed batch its own parameters? Greedy rows by their tokens, sampled ones by their own law.

A batch holds rows of other draft lengths, limits, stop strings and sampling. What is a neighbour's shows: a limit that
is not kept, a token that the row's own filters forbid, places in the row's own law that are not uniform.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...engine.request import Generation
from ...stats import kolmogorov_smirnov as ks
from ...stats.decision import decide
from ...stats.design import ks_draws
from ...suites.served import Serving
from ...suites.suite import Cell, Suite
from ..contracts import Finding, Reason, Status
from ..observations.context import seed_of
from ..observations.serving.mixed import Mixed, rows
from .algebra import complaint
from .base import STATUS, Case, entry, not_observed
from .scenarios import Scenario


class Parameters(Scenario):
    """Greedy rows of mixed batches are plain decoding's, and every row keeps its limit, its draft length, its ends."""

    def __init__(self) -> None:
        super().__init__("parameters")

    def miscounts(self, case: Case, numbers: Serving, variants: Mapping[str, Any]) -> Iterator[str]:
        """By each row's own limit, draft length and stop strings."""
        listed = {one.canary.id: one for one in rows(case.suite, numbers, case.draft_length)}
        greedy = [(label, g) for label, variant in variants.items() for g in variant["generations"]]
        drawn = [("a mixed batch", one["generation"]) for one in case.observed(self.observation)["sampled"]]
        for label, document in (*greedy, *drawn):
            generation = Generation.from_json(document)
            if wrong := _wrong(case, listed[generation.name], generation):
                yield f"{generation.name} under {label}: {wrong}"


def _wrong(case: Case, asked: Mixed, generation: Generation) -> str | None:
    longest = case.draft_length if asked.draft_length is None else asked.draft_length
    if generation.finish == "stop" and any(stop in generation.text for stop in asked.stop):
        return "its text goes on behind the stop string"
    return complaint(generation, longest, asked.tokens, case.header["eos"], stops=bool(asked.stop))


class ParametersLaw:
    """Sampled rows of mixed batches follow their own law, and nothing lies outside their own filters."""

    name = "parameters_law"
    observes = ("serving/parameters",)

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """One test over the tokens of all sampled rows: once a run, in the first sampled cell."""
        return ("uniform",) if cell == _payer(suite) else ()

    def judge(self, case: Case) -> Finding:
        """FAIL for one token outside its row's filters, or for places that are not uniform."""
        numbers = case.suite.serving
        if numbers is None:
            return not_observed(self.name, case)
        sampled = case.observed("serving/parameters")["sampled"]
        share = case.ledger.share(entry(_payer(case.suite), self.name, "uniform"))
        miss = case.suite.design.miss
        wanted = ks_draws(numbers.law_effect, false_alarm=share, miss=miss)
        told = [pair for one in sampled for pair in zip(one["replay"]["below"], one["replay"]["prob"], strict=True)]
        below, prob = np.array(told, np.float64).reshape(-1, 2).T
        rng = np.random.default_rng(seed_of(case.seed, "mixed", "pit"))
        places = ks.randomised_pit(below, prob, rng.uniform(size=len(below)))
        values = places if np.isnan(places).any() else rng.permutation(places)[:wanted]
        evidence = ks.uniform_ks(values, hypothesis="sampled tokens of mixed batches follow their own row's law")
        planned = ks.design(wanted, false_alarm=share, miss=miss)
        outside = [one["generation"]["name"] for one in sampled if any(one["replay"]["outside"])]
        status = Status.FAIL if outside else STATUS[decide(evidence, planned, effect=numbers.law_effect)]
        short = max(0, wanted - len(below))
        summary = f"{len(values)} tokens of mixed batches, largest gap {evidence.statistic:.3f}"
        summary += f"; {short} more are needed" if short else ""
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason={Status.FAIL: Reason.DISTRIBUTION, Status.INCONCLUSIVE: Reason.INCOMPLETE}.get(status),
            summary=f"tokens outside their own filters in {', '.join(outside)}" if outside else summary,
            evidence=(evidence.to_json(),),
            design=(planned.to_json(),),
            reproduce=tuple(dict.fromkeys(outside)),
            seen=f"a gap of {numbers.law_effect} in the CDF of sampled rows beside greedy ones",
            figures={"tokens": len(below), "outside": len(outside)},
        )


def _payer(suite: Suite) -> Cell:
    """The cell from whose share the test is paid: the first sampled one."""
    return next(cell for cell in suite.cells if not cell.greedy)
