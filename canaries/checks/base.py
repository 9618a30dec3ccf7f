"""What a check is given and what it must say. A check judges recorded observations only: it never calls a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ...stats.decision import Decision
from ...stats.ledger import Ledger
from ...suites.suite import Cell, DesignNumbers, Suite
from ..contracts import KEPT, Finding, Reason, Status, demanded

STATUS = {
    Decision.PASS: Status.PASS,
    Decision.FAIL: Status.FAIL,
    Decision.INCONCLUSIVE: Status.INCONCLUSIVE,
}
NOT_MADE = "the record holds no observation for this check; run again"
LAW = frozenset({"table", "rows", "samples"})  # made once for all cells with the same sampling parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cell of a record, with the suite it was made for and the ledger that was split before any data.

    `holes` remembers which of the record's observations are no evidence, and why: all cells of a record share it.
    """

    suite: Suite
    cell: Cell
    header: Mapping[str, Any]
    observations: Mapping[str, Any]
    ledger: Ledger
    holes: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)

    def observed(self, name: str) -> Any:
        """The cell's observation `name`, or the run's; None where it was not made."""
        return self.observations.get(self.key(name))

    def key(self, name: str) -> str:
        """What the observation is called in the record."""
        cell = self.law.cell if name in LAW else self.cell
        own = f"{cell.name}/{name}"
        return own if own in self.observations else name

    @property
    def law(self) -> Case:
        """The case of the cell in which known laws are drawn under this cell's sampling parameters."""
        return replace(self, cell=self.suite.law_cell(self.cell))

    def share(self, check: str, test: str) -> float:
        """The false-alarm rate that this test may spend in this cell."""
        return self.ledger.share(entry(self.cell, check, test))

    @property
    def design(self) -> DesignNumbers:
        """The numbers that the cell is designed with."""
        return self.suite.design_of(self.cell)

    @property
    def candidate(self) -> Mapping[str, Any]:
        """The candidate's identity."""
        identity: Mapping[str, Any] = self.header["candidate"]
        return identity

    @property
    def kind(self) -> str:
        """The kind of target that was judged: what it can tell decides what is asked of it."""
        return kind_of(self.header)

    @property
    def kept(self) -> bool:
        """Whether the baseline was recorded before, so that it could not be asked about the candidate's answers."""
        return kept(self.header)

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self.header["seed"])

    @property
    def draft_length(self) -> int:
        """Most tokens a round may propose; 0 where the candidate does not speculate."""
        return int(self.candidate.get("options", {}).get("k", 0))


def kind_of(header: Mapping[str, Any]) -> str:
    """The kind of both arms, as a record names it."""
    return str(header["candidate"].get("kind", "reference"))


def kept(header: Mapping[str, Any]) -> bool:
    """Whether a record's baseline was kept from another hour."""
    return KEPT in header.get("baseline", {})


def demanded_of(header: Mapping[str, Any]) -> str:
    """What a suite calls the lists of what a record must pass."""
    return demanded(kind_of(header), kept=kept(header))


def entry(cell: Cell, check: str, test: str) -> str:
    """A test's name in the ledger."""
    return f"{cell.name}/{check}/{test}"


class Check(Protocol):
    """One question about one cell. `observes` names what it reads, `tests` what it spends false alarms on."""

    name: str

    @property
    def observes(self) -> tuple[str, ...]:
        """Observations without which there is nothing to judge: `judge` is called only where all were made."""

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """Its statistical tests in this cell, each with a share of the ledger; none where nothing is left to chance."""

    def judge(self, case: Case) -> Finding:
        """What the record says."""


class Certain:
    """Base of checks whose tests leave nothing to chance: one fault is proof."""

    def tests(self, suite: Suite, cell: Cell) -> tuple[str, ...]:
        """None."""
        del suite, cell
        return ()


def not_observed(check: str, case: Case, why: str = NOT_MADE) -> Finding:
    """The finding where the record lacks what a check needs, and why: nothing to look at, or nothing looked at."""
    if not case.draft_length:
        return Finding(
            check=check, cell=case.cell.name, status=Status.NOT_EXERCISED, summary="the candidate does not speculate"
        )
    return Finding(
        check=check,
        cell=case.cell.name,
        status=Status.INCONCLUSIVE,
        reason=Reason.INCOMPLETE,
        summary=why,
    )


def worst(decisions: list[Decision]) -> Status:
    """FAIL if any failed, then INCONCLUSIVE if any is or there is none; PASS otherwise."""
    for status in (Decision.FAIL, Decision.INCONCLUSIVE):
        if status in decisions:
            return STATUS[status]
    return Status.PASS if decisions else Status.INCONCLUSIVE
