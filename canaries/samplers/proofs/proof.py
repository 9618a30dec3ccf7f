"""What is proved of a rule: case by case, an identity between rational numbers; and of its acceptance, the bounds.

A case that fails is a counterexample, not a hint. Cases are numbered, so that a proof can be made in parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from ....engine.verification.base import Rule
from ....stats.bounds import contained_bound
from ....stats.exact import Text
from .cases import ONE, ZERO, Case, random_case
from .rounds import Round, one_round
from .rules import ProvedRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What some cases showed.

    wrong, too_keen, too_shy: indices of cases where the law is not the target's, where more is accepted than by any
    lossless rule, or less than by the token rule (for rules of chains). worst: the largest total variation, a fraction.
    accepted, token and bound: tokens accepted by this rule, by the token rule (chains only), and by the best that is
    conceivable, on average in each case and summed over cases.
    """

    cases: int
    wrong: tuple[int, ...] = ()
    worst: str = "0"
    too_keen: tuple[int, ...] = ()
    too_shy: tuple[int, ...] = ()
    accepted: float = 0.0
    token: float | None = None
    bound: float = 0.0

    @property
    def failures(self) -> tuple[int, ...]:
        """Every case that refutes something."""
        return tuple(sorted({*self.wrong, *self.too_keen, *self.too_shy}))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Part:
        """The part that `to_json` wrote."""
        fields: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in document.items()}
        return cls(**fields)


def case_of(rule: ProvedRule, seed: int, index: int) -> Case:
    """Case `index` of the rule's own shapes: rules of the same shapes meet the same cases."""
    return random_case(seed, index, rule.shapes)


class Outcome(NamedTuple):
    """One case: the distance from the target's law, and how many tokens are accepted, at most and at least."""

    distance: Fraction
    accepted: Fraction
    most: Fraction
    least: Fraction
    exactly: bool

    @property
    def too_shy(self) -> bool:
        """Whether less is accepted than the rule must, or for the token rule another number than it must."""
        return self.accepted < self.least or (self.exactly and self.accepted != self.least)


def outcome(rule: ProvedRule, case: Case) -> Outcome:
    """The case, enumerated whole."""
    found = one_round(case, rule.drafting, rule.accept)
    return Outcome(
        distance=found.distance(case),
        accepted=found.accepted,
        most=most_accepted(case, found),
        least=token_accepted(case) if rule.beside_token else ZERO,
        exactly=rule.rule is Rule.TOKEN,
    )


def failing(rule: ProvedRule, case: Case) -> bool:
    """Whether the case refutes the rule."""
    found = outcome(rule, case)
    return found.distance > 0 or found.accepted > found.most or found.too_shy


def prove_part(rule: ProvedRule, indices: Iterable[int], seed: int) -> Part:
    """What the rule does in these cases."""
    found = {index: outcome(rule, case_of(rule, seed, index)) for index in indices}
    return Part(
        cases=len(found),
        wrong=tuple(index for index, one in found.items() if one.distance),
        worst=str(max((one.distance for one in found.values()), default=ZERO)),
        too_keen=tuple(index for index, one in found.items() if one.accepted > one.most),
        too_shy=tuple(index for index, one in found.items() if one.too_shy),
        accepted=float(sum(one.accepted for one in found.values())),
        token=float(sum(one.least for one in found.values())) if rule.beside_token else None,
        bound=float(sum(one.most for one in found.values())),
    )


def joined(parts: Iterable[Part]) -> Part:
    """Parts of one proof as one."""
    listed = list(parts)
    tokens = [part.token for part in listed if part.token is not None]
    return Part(
        cases=sum(part.cases for part in listed),
        wrong=tuple(index for part in listed for index in part.wrong),
        worst=str(max((Fraction(part.worst) for part in listed), default=ZERO)),
        too_keen=tuple(index for part in listed for index in part.too_keen),
        too_shy=tuple(index for part in listed for index in part.too_shy),
        accepted=sum(part.accepted for part in listed),
        token=sum(tokens) if tokens else None,
        bound=sum(part.bound for part in listed),
    )


def most_accepted(case: Case, found: Round) -> Fraction:
    """What no lossless rule exceeds on these drafts."""
    return contained_bound(case.prefixes, found.contained)


def token_accepted(case: Case) -> Fraction:
    """What the token rule accepts of a drawn chain: the sum over texts of `prod(min(p, q))`."""
    reached: dict[Text, Fraction] = {(): ONE}
    total = ZERO
    for _ in range(case.k):
        reached = {
            (*text, token): mass * min(p, q)
            for text, mass in reached.items()
            for token, (p, q) in enumerate(zip(case.target[text], case.draft[text], strict=True))
            if p and q
        }
        total += sum(reached.values(), ZERO)
    return total
