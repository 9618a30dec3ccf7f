"""Do answers that are asked for from outside follow the plain law? Many answers to few prompts, counted.

First tokens are held against the law right after the prompt, whole answers against the mass that plain decoding gives
them; where a server tells too little to know these, against as many draws of its own plain decoding. No answer may
repeat another one's chance. Plain decoding's draws are held against the same laws: where they fail, no drafting is at
fault.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...stats import chi_square, stratified
from ...stats.decision import Decision, decide
from ...stats.design import Design
from ...stats.evidence import Evidence
from ...suites.suite import Cell, Samples, Suite
from ..contracts import Finding, Reason, Status
from ..observations.pairs import BASELINE, CANDIDATE
from ..observations.samples import Open
from .base import Case, not_observed, worst
from .drawn import Drawn, by_mass, first_tokens, read, whole_answers
from .places import figures
from .sharing import shared

TESTS = ("first", "answers", "shared", "baseline")
LEAST_CELLS = 3  # times the floor: so many draws fill two groups, whatever the law
HYPOTHESES = {
    "first": "first tokens follow the law after the prompt",
    "answers": "whole answers have the masses that plain decoding gives them",
    "baseline's first": "plain decoding's own first tokens follow the law after the prompt",
    "baseline's answers": "plain decoding's own answers have the masses that it gives them",
}
NO_END, OUTSIDE = "answers neither reach their limit nor an end", "tokens lie outside the support"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One test: what the data say, what they could have said, and the decision."""

    evidence: Evidence
    design: Design
    effect: float

    @property
    def decision(self) -> Decision:
        """What follows."""
        return decide(self.evidence, self.design, effect=self.effect)


class SampledAnswers:
    """The candidate's answers by their counts; the baseline's, to know whom to blame."""

    name = "samples"
    observes = ("samples",)

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """First tokens, whole answers, chance that is shared, and the baseline; once for cells of one sampling."""
        return TESTS if cell == suite.law_cell(cell) else ()

    def judge(self, case: Case) -> Finding:
        """FAIL for one test that rejects, one answer without an end, or one token outside the support."""
        numbers, observed = case.suite.samples, case.observed("samples")
        if numbers is None:
            return not_observed(self.name, case)
        if not observed["prompts"]:
            why = f"no canary is open enough: one token has more than {1 - numbers.least_open:.0%} of the mass in all"
            return not_observed(self.name, case, why)
        drawn = read(observed, numbers.tokens, case.header["eos"])
        looked = self._looked(case, numbers, drawn, observed["noise"])
        wrong = {arm: _proof(drawn, observed["prompts"], arm) for arm in (CANDIDATE, BASELINE)}
        for test, one in looked.items():
            if one.decision is Decision.FAIL:
                wrong[BASELINE if test in HYPOTHESES and BASELINE in test else CANDIDATE].append(_words(test, one))
        status = Status.FAIL if any(wrong.values()) else worst([looked[test].decision for test in TESTS[:3]])
        told = [f"the {arm}'s {', '.join(found)}" for arm, found in wrong.items() if found] or _blind(looked)
        asked = f"{observed['draws']} answers of at most {numbers.tokens} tokens to each of {len(drawn)} prompts"
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=status,
            reason=_reason(status, wrong),
            summary="; ".join([asked, *told]),
            evidence=tuple(one.evidence.to_json() for one in looked.values()),
            design=tuple(one.design.to_json() for one in looked.values()),
            seen=_seen(looked, numbers, drawn, observed["draws"]),
            figures=figures(case, numbers, drawn, observed["prompts"]),
        )

    def _looked(self, case: Case, numbers: Samples, drawn: Sequence[Drawn], noise: float) -> dict[str, Looked]:
        share = {test: case.law.share(self.name, test) for test in TESTS}
        miss, looked = case.design.miss, {}
        tests = [
            ("first", CANDIDATE, first_tokens, share["first"]),
            ("answers", CANDIDATE, whole_answers, share["answers"]),
            ("baseline's first", BASELINE, first_tokens, share["baseline"] / 2),
            ("baseline's answers", BASELINE, by_mass, share["baseline"] / 2),
        ]
        # A kept baseline has masses of what it drew itself: which of its answers are told apart would be its own say.
        for test, arm, take, spend in tests[: -1 if case.kept else None]:
            floor = chi_square.expected_floor(spend)
            listed = [one for one in drawn if one.law is not None] if arm == BASELINE else drawn
            if strata := [take(one, arm, floor=floor, logits=noise / case.cell.temperature) for one in listed]:
                evidence = stratified.evidence(strata, hypothesis=HYPOTHESES[test], floor=floor)
                design = stratified.design(strata, floor=floor, false_alarm=spend, miss=miss)
                looked[test] = Looked(evidence=evidence, design=design, effect=numbers.effect)
        evidence, design = shared(drawn, false_alarm=share["shared"], miss=miss)
        return looked | {"shared": Looked(evidence=evidence, design=design, effect=numbers.shared_effect)}


def draws_needed(suite: Suite, cell: Cell, share: float, open_places: Open) -> int:
    """Draws a prompt, in whole calls, after which the suite's effect shows in first tokens and in whole answers.

    And as many as make two groups of outcomes that are expected often enough, at the least open place that is taken.
    """
    numbers, floor = suite.samples, chi_square.expected_floor(share)
    if numbers is None or not open_places.known + open_places.unknown:
        return 0
    return stratified.draws_each(
        numbers.effect,
        open_places.known,
        open_places.unknown,
        noise=stratified.divergence(open_places.noise / cell.temperature, numbers.tokens),
        least=math.ceil(max(LEAST_CELLS * floor, floor / numbers.least_open)),
        step=numbers.batch,
        floor=floor,
        false_alarm=share,
        miss=suite.design.miss,
    )


def _proof(drawn: Sequence[Drawn], told: Sequence[Any], arm: str) -> list[str]:
    """What needs no statistics, with the canaries that show it."""
    came = [np.unique(one.drawn[arm]).tolist() for one in drawn]
    cut = [one.canary for one, numbers in zip(drawn, came, strict=True) if not one.ended[numbers].all()]
    outside = [
        also["canary"]
        for also, numbers in zip(told, came, strict=True)
        if any(any(also["outside"][number]) for number in numbers)
    ]
    return [f"{what} ({', '.join(names)})" for what, names in ((NO_END, cut), (OUTSIDE, outside)) if names]


def _words(test: str, one: Looked) -> str:
    if test == "shared":
        where = one.evidence.hypothesis.partition(" have")[0]
        return f"answers repeat one another ({one.evidence.statistic:.0f} of {one.evidence.n} {where})"
    return f"{'first tokens' if test.endswith('first') else 'whole answers'} do not follow the plain law"


def _reason(status: Status, wrong: dict[str, list[str]]) -> Reason | None:
    if status is not Status.FAIL:
        return Reason.INCOMPLETE if status is Status.INCONCLUSIVE else None
    if wrong[BASELINE]:
        return Reason.NOT_SPECULATIVE if wrong[CANDIDATE] else Reason.BASELINE_UNSTABLE
    return Reason.CORRECTNESS if wrong[CANDIDATE][0].startswith(NO_END) else Reason.DISTRIBUTION


def _blind(looked: dict[str, Looked]) -> list[str]:
    """Which tests cannot see the suite's effects, and so do not pass."""
    return [
        f"{test} shows {one.design.detectable:.2g} at best, {one.effect:g} is asked for: more prompts, or less noise"
        for test in TESTS[:3]
        if (one := looked[test]).decision is Decision.INCONCLUSIVE
    ]


def _seen(looked: dict[str, Looked], numbers: Samples, drawn: Sequence[Drawn], draws: int) -> str:
    weakest = max(looked[test].design.detectable for test in ("first", "answers"))
    unknown = sum(one.law is None for one in drawn)
    against = f", {unknown} of them held against plain decoding's own draws" if unknown else ""
    floor = chi_square.expected_floor(looked["first"].design.false_alarm)
    return (
        f"first tokens, or answers of {numbers.tokens}, off by a total variation of {weakest:.2f} on average over "
        f"{len(drawn)} prompts{against}, outcomes rarer than {floor / draws:.0%} grouped, {numbers.batch} asked at once"
        f"; {looked['shared'].design.detectable:.0%} of answers with another's chance"
    )
