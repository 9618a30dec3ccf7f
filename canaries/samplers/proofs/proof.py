"""What is proved of a rule: case by case, an identity between rational numbers; and of its acceptance, the bounds.

A case that fails is a counterexample, not a hint. Cases are numbered, so that a proof can be made in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from ....engine.verification.base import Rule
from ....stats.bounds import contained_bound
from ....stats.exact import Text
from .cases import ONE, ZERO, Case, random_case
from .rounds import Round, one_round
from .rules import ProvedRule

RoundOf: TypeAlias = Callable[[Case], Round]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What some cases showed; fractions as text.

    wrong, too_keen, too_shy: indices of cases where the law is not the target's, where more is accepted than any
    lossless rule can, or less than the token rule (for rules of chains). gained: how much more was accepted than under
    the token rule, and bound: how much that could have been, both summed over the cases of chains.
    """

    cases: int
    wrong: tuple[int, ...] = ()
    worst: str = "0"
    too_keen: tuple[int, ...] = ()
    too_shy: tuple[int, ...] = ()
    accepted: str = "0"
    token: str | None = None
    bound: str = "0"

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


def prove_part(rule: ProvedRule, indices: Iterable[int], seed: int) -> Part:
    """What the rule does in these cases, each enumerated whole."""
    wrong, keen, shy = [], [], []
    worst, accepted, token, bound, count = ZERO, ZERO, ZERO, ZERO, 0
    for index in indices:
        case = case_of(rule, seed, index)
        found = one_round(case, rule.drafting, rule.accept)
        distance, most, least = found.distance(case), most_accepted(case, found), ZERO
        if rule.beside_token:
            least = token_accepted(case)
            token += least
        if distance:
            wrong.append(index)
        if found.accepted > most:
            keen.append(index)
        if found.accepted < least or (rule.rule is Rule.TOKEN and found.accepted != least):
            shy.append(index)
        worst, count = max(worst, distance), count + 1
        accepted, bound = accepted + found.accepted, bound + most
    return Part(
        cases=count,
        wrong=tuple(wrong),
        worst=str(worst),
        too_keen=tuple(keen),
        too_shy=tuple(shy),
        accepted=f"{float(accepted)}",
        token=f"{float(token)}" if rule.beside_token else None,
        bound=f"{float(bound)}",
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
        accepted=str(sum(float(part.accepted) for part in listed)),
        token=str(sum(map(float, tokens))) if tokens else None,
        bound=str(sum(float(part.bound) for part in listed)),
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
