"""From a case that fails to the smallest one that still does: fewer nodes, fewer tokens, less memory, plainer laws.

Every step is enumerated anew, so the small case is a counterexample of its own, not a guess about the large one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from ....engine.tree import depths
from ....stats.exact import Text
from .cases import Case, Law, rational

MOST_TRIES = 600
"""Cases that are enumerated on the way down; seconds."""
PLAINEST = 6
"""Largest denominator that a law is rounded to, smaller ones first."""


def smallest(case: Case, fails: Callable[[Case], bool], *, most_tries: int = MOST_TRIES) -> Case:
    """A case that fails and of which, within so many tries, no simpler neighbour does. `case` must fail."""
    tries = 0
    while True:
        for simpler in _simpler(case):
            tries += 1
            if tries > most_tries:
                return case
            if fails(simpler):
                case = simpler
                break
        else:
            return case


def told(case: Case) -> list[str]:
    """The case for people, a line a history; laws that no history changes are told once a position."""
    lines = [f"K = {case.k}, V = {case.vocabulary}" + ("" if is_chain(case) else f", parents {list(case.parents)}")]
    short = forgetful(case)
    for text in case.target:
        if short and any(text):
            continue
        where = f"position {len(text) + 1}" if short else f"after {list(text)}"
        q = f"   q = {_row(case.draft[text])}" if text in case.draft else ""
        lines.append(f"{where}: p = {_row(case.target[text])}{q}")
    return lines


def forgetful(case: Case) -> bool:
    """Whether no law depends on which tokens came before."""
    return _forgets(case.target) and _forgets(case.draft)


def _simpler(case: Case) -> Iterator[Case]:
    yield from _smaller_drafts(case)
    yield from _smaller_vocabularies(case)
    yield from _without_memory(case)
    for side in ("target", "draft"):
        yield from _plainer_laws(case, side)


def _smaller_drafts(case: Case) -> Iterator[Case]:
    """Without one of the leaves, as long as one node is left."""
    for leaf in reversed(range(1, len(case.parents))):
        if leaf not in case.parents and len(case.parents) > 2:  # noqa: PLR2004 - the root and a node
            parents = tuple(p - (p > leaf) for node, p in enumerate(case.parents) if node != leaf)
            k = int(depths(parents).max())
            target = {text: law for text, law in case.target.items() if len(text) <= k}
            draft = {text: law for text, law in case.draft.items() if len(text) < k}
            yield Case(case.vocabulary, parents, target, draft)


def _smaller_vocabularies(case: Case) -> Iterator[Case]:
    """Without one of the tokens, whose mass goes to the others; laws that have no other become flat."""
    if case.vocabulary == 2:  # noqa: PLR2004 - one token has one law
        return
    for gone in reversed(range(case.vocabulary)):
        laws = [
            {tuple(t - (t > gone) for t in text): _without(law, gone) for text, law in of.items() if gone not in text}
            for of in (case.target, case.draft)
        ]
        yield Case(case.vocabulary - 1, case.parents, *laws)


def _without(law: Law, gone: int) -> Law:
    left = np.delete(law, gone)
    total = left.sum()
    return left / total if total else rational([Fraction(1, len(left))] * len(left))


def _without_memory(case: Case) -> Iterator[Case]:
    """With one law for all positions, or one a position, whatever came before."""
    for kept in (0, case.k):
        old = (case.target, case.draft)
        laws = [{text: of[(0,) * min(len(text), kept)] for text in of} for of in old]
        if any(new[text] is not of[text] for new, of in zip(laws, old, strict=True) for text in of):
            yield Case(case.vocabulary, case.parents, *laws)


def _plainer_laws(case: Case, side: str) -> Iterator[Case]:
    """With one law of the target or the draft plainer, wherever it stands."""
    laws: Mapping[Text, Law] = getattr(case, side)
    for one in {id(law): law for law in laws.values()}.values():
        for plainer in _plainer(one):
            changed = {text: plainer if law is one else law for text, law in laws.items()}
            yield Case(case.vocabulary, case.parents, **{"target": case.target, "draft": case.draft} | {side: changed})


def _plainer(law: Law) -> Iterator[Law]:
    """Point masses, then the law in halves, thirds and so on, as far as that is plainer than it is."""
    whole = lcm(*(mass.denominator for mass in law))
    if whole == 1:
        return
    for token in np.argsort([-mass for mass in law], kind="stable"):
        yield rational(Fraction(int(token == other)) for other in range(len(law)))
    for parts in range(2, min(whole, PLAINEST + 1)):
        yield _rounded(law, parts)


def _rounded(law: Law, parts: int) -> Law:
    """The law in whole multiples of `1 / parts`; what is left over goes to the largest remainders."""
    counts = [int(mass * parts) for mass in law]
    rest = sorted(range(len(law)), key=lambda token: -(law[token] * parts - counts[token]))
    for token in rest[: parts - sum(counts)]:
        counts[token] += 1
    return rational(Fraction(count, parts) for count in counts)


def _forgets(laws: Mapping[Text, Law]) -> bool:
    return all(list(law) == list(laws[(0,) * len(text)]) for text, law in laws.items())


def is_chain(case: Case) -> bool:
    """Whether the draft has no branches."""
    return case.parents == tuple(range(-1, len(case.parents) - 1))


def _row(law: Any) -> str:
    return f"({', '.join(map(str, law))})"
