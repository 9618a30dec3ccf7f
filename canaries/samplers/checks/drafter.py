"""Are draft tokens really drawn from the law that the drafter reports? For (drafter, sampler) pairs only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....stats import kolmogorov_smirnov
from ....stats.evidence import Evidence
from ...contracts import Reason
from ..laws import Bundle
from .base import Look, Rates, Test, UniformNumbers


@dataclass(frozen=True, slots=True)
class DrafterTest(UniformNumbers):
    """Kolmogorov-Smirnov with the DKW bound on the drafter's tokens as numbers; one of reported mass 0 is proof."""

    bundle: str
    cell: str
    check: str = "drafter"
    reason: Reason = Reason.DISTRIBUTION

    def evidence(self, look: Look, _: Rates) -> Evidence:
        """The numbers of all positions and problems of the bundle."""
        assert look.drafted is not None
        text = "draft tokens are drawn from the law that the drafter reports"
        found = kolmogorov_smirnov.uniform_ks(look.drafted.numbers, hypothesis=text)
        return replace(found, p_value=0.0) if look.drafted.impossible else found


def planned(bundle: Bundle) -> list[Test]:
    """One test a bundle."""
    return [DrafterTest(bundle.name, bundle.name)] if bundle.draft_length else []
