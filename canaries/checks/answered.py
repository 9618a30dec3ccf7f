"""Could every answer be read? An engine that answers what none may answer is at fault, whatever it meant to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..contracts import Finding, Reason, Status
from ..observations.pairs import BASELINE
from .base import Case, Certain, not_observed
from .ranges import LOST, SHAPES
from .whole import hole


class Answered(Certain):
    """No observation of the cell, or of the run, ended in an answer that is half, garbled or without its end."""

    name = "answered"
    observes: tuple[str, ...] = ()  # a broken answer is what it looks for, and no evidence to any other check

    def judge(self, case: Case) -> Finding:
        """FAIL for one broken answer: on the engine's account, or on the baseline's."""
        broken = list(dict.fromkeys(broken_in(case)))
        first = broken[0] if broken else None
        if first is None and (why := hole(case, "pairs")):
            return not_observed(self.name, case, why)
        blamed = Reason.BASELINE_UNSTABLE if first and first[0] == BASELINE else Reason.CORRECTNESS
        return Finding(
            check=self.name,
            cell=case.cell.name,
            status=Status.FAIL if first else Status.PASS,
            reason=blamed if first else None,
            summary=_told(broken) + _lost(case),
        )


def _told(broken: Sequence[tuple[str, str]]) -> str:
    """The first of each arm in words, the others by number."""
    firsts: dict[str, str] = {}
    for arm, told in broken:
        firsts.setdefault(arm, told)
    more = f"; and {len(broken) - len(firsts)} more" if len(broken) > len(firsts) else ""
    return "; ".join(f"{arm}: {told}" for arm, told in firsts.items()) + more or "every answer came to its end"


def _lost(case: Case) -> str:
    """Which arms were lost over what, and not again when a resumed run asked anew."""
    lost = {key: note["arm"] for key, note in case.observations.items() if f"/{LOST}" in key}
    return "".join(f"; the {arm} was lost once, over {key.partition(f'/{LOST}')[0]}" for key, arm in lost.items())


def broken_in(case: Case) -> Iterator[tuple[str, str]]:
    """(arm, what it told) of each observation that the cell rests on and that was broken off."""
    for name in SHAPES:
        found = case.observed(name)
        if isinstance(found, dict) and found.keys() == {"broken"}:
            yield str(found["broken"]["arm"]), str(found["broken"]["told"])
