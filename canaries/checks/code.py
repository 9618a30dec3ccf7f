"""Does code that a model wrote run, and do what was asked? Run in isolation when judged, once for each text."""

from __future__ import annotations

from dataclasses import replace

from ...suites.asserts import comparison
from ...suites.suite import Canary
from ..contracts import Finding, Reason, Status
from ..isolation import outside
from ..isolation.outside import Ending
from ..observations.answers import answers
from .base import Case
from .flaws import Flaw, Flawed
from .validity import Validity


class CodeRuns(Validity):
    """Programs pass their asserts. INCONCLUSIVE on a machine that cannot run them in isolation.

    `isolation` in the figures tells of the machine that judged, not of the run: two judgements may differ in it.
    """

    def __init__(self) -> None:
        super().__init__("code_runs", "code", flaw_of_program)

    def judge(self, case: Case) -> Finding:
        """FAIL for one program that runs under plain decoding and not under the candidate."""
        if not outside.able():
            return self._unable(case, "programs cannot be run in isolation on this machine; judge the record elsewhere")
        asked = {canary.id: canary for canary in case.suite.canaries_for(case.cell) if canary.kind == self.kind}
        written = [a for a in answers(case.observed("pairs")) if a.canary in asked]
        texts = [(a.generation.text, expressions(asked[a.canary])) for a in written]
        outside.run_all(texts)
        if any(outside.run(*one).ending is Ending.NOT_RUN for one in texts):
            return self._unable(case, "a program could not be started; judge the record again")
        finding = super().judge(case)
        network = "no network" if outside.without_network() else "network not forbidden"
        return replace(finding, figures={**finding.figures, "isolation": network})

    def _unable(self, case: Case, words: str) -> Finding:
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.INCONCLUSIVE,
            reason=Reason.INCOMPLETE,
            summary=words,
            figures={"isolation": "none"},
        )


def flaw_of_program(canary: Canary, text: str) -> Flawed | None:
    """How the program ended, where that was not well; or the first assert that does not hold."""
    ran = outside.run(text, expressions(canary))
    if ran.ending is not Ending.ANSWERED:
        return Flawed(ran.ending, ran.detail)
    wanted = [comparison(line).value for line in canary.asserts]
    if len(ran.values) != len(wanted):
        return Flawed(Ending.OPAQUE)
    wrong = (line for line, value, want in zip(canary.asserts, ran.values, wanted, strict=True) if value != want)
    first = next(wrong, None)
    return None if first is None else Flawed(Flaw.OTHER_VALUE, first)


def expressions(canary: Canary) -> tuple[str, ...]:
    """What the canary's asserts compare, without what they compare it with."""
    return tuple(comparison(line).expression for line in canary.asserts)
