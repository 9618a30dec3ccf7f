"""Acceptance rules with a slip in them, each of which somebody has made, and drafts that are tampered with."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from draftgate.engine.sampling import normalised
from draftgate.engine.tree import ROOT
from draftgate.engine.verification.base import Accepted
from draftgate.engine.verification.lossless import accept


class Slip(NamedTuple):
    """Block verification as it should be; each changed field is a slip."""

    clip: bool = True
    ahead: int = 1
    first: bool = False
    residual: bool = True
    share: bool = True


RIGHT = Slip()


def block(tree, probs, rng, slip=RIGHT):
    """Block verification with its decisions exposed."""
    k, weights = tree.drafted, [1]
    for node in range(1, k + 1):
        ratio = weights[-1] * probs[node - 1][tree.tokens[node]] / tree.probs[node][tree.tokens[node]]
        weights.append(min(1, ratio) if slip.clip else ratio)

    def left(node):
        return (weights[node] * probs[node] - tree.probs[node + 1]).clip(min=0)

    def keeps(node):
        if node == k or not slip.share:
            return rng.uniform(node) < weights[node]
        row = min(node + slip.ahead, k)
        mass = (weights[node] * probs[row - 1] - tree.probs[row]).clip(min=0).sum()
        return bool(mass) and rng.uniform(node) < mass / (mass + 1 - min(1, weights[node]))

    kept = 0
    for node in range(1, k + 1):
        if keeps(node):
            kept = node
        elif slip.first:
            break
    law = probs[kept] if kept == k or not slip.residual else left(kept)
    return Accepted(list(range(1, kept + 1)), rng.draw(normalised(law if law.sum() else probs[kept])))


WRONG_BLOCKS = {
    "the residual of the next row": Slip(ahead=2),
    "the residual of the own row": Slip(ahead=0),
    "weights above 1": Slip(clip=False),
    "the first refusal ends it": Slip(first=True),
    "the last token from p": Slip(residual=False),
    "prefixes kept by their weight": Slip(share=False),
}


def not_renormalised(q, earlier, token):
    """Siblings drawn before are struck out of q, which is left short of mass."""
    del token
    left = q.copy()
    left[list(earlier)] = 0
    return left


def traversal_that_forgets(tree, probs, rng):
    """Traversal that hands nothing back to the parent: its weight stays after a child was refused."""

    def visit(node, weight):
        p = probs[node]
        for child in tree.children(node):
            token, q = tree.tokens[child], tree.probs[child]
            found = visit(child, min(1, weight * p[token] / q[token]))
            if found:
                return Accepted([child, *found.path], found.last)
            left = (weight * p - q).clip(min=0)
            if not left.sum():
                return None if node != ROOT else Accepted([], rng.draw(p))
            p = normalised(left)
        return Accepted([], rng.draw(p)) if node == ROOT or rng.uniform(node) < weight else None

    return visit(ROOT, 1)


def tampered(change, judge=accept):
    """`judge` on a draft whose nodes were changed after drawing; `change(tree)` says which stay, in their new order."""

    def walk(tree, probs, rng):
        kept = change(tree)
        number = {old: new for new, old in enumerate(kept)}
        parents = tuple(-1 if node == ROOT else number[tree.parents[node]] for node in kept)
        path, last = judge(
            replace(tree, tokens=tree.tokens[kept], parents=parents, probs=tree.probs[kept]), probs[kept], rng
        )
        return Accepted([kept[node] for node in path], last)

    return walk


def without_duplicates(tree):
    """A sibling that repeats an earlier one goes, with what hangs below it."""
    kept = [ROOT]
    for node in range(1, len(tree.parents)):
        twins = [tree.tokens[other] for other in kept[1:] if tree.parents[other] == tree.parents[node]]
        if tree.parents[node] in kept and tree.tokens[node] not in twins:
            kept.append(node)
    return kept


def sure(tree, node):
    """Whether the draft gave the node's token half of its law or more."""
    return tree.probs[node][tree.tokens[node]] >= Fraction(1, 2)


def ended_behind_the_unsure(tree):
    """Nothing hangs below a weak token, which is proposed itself: as if nothing had been drawn there. Innocent."""
    kept = [ROOT]
    for node in range(1, len(tree.parents)):
        if (parent := tree.parents[node]) in kept and (parent == ROOT or sure(tree, parent)):
            kept.append(node)
    return kept


def ended_before_the_unsure(tree):
    """A weak token goes, with what hangs below it."""
    kept = [ROOT]
    for node in range(1, len(tree.parents)):
        if tree.parents[node] in kept and sure(tree, node):
            kept.append(node)
    return kept


def sorted_siblings(tree):
    """Siblings by the confidence of the draft, the surest first."""
    return _breadth_first(
        tree, lambda children: sorted(children, key=lambda node: -tree.probs[node][tree.tokens[node]])
    )


def reranked(tree):
    """Of two siblings the surer one stays."""
    return _breadth_first(
        tree, lambda children: sorted(children, key=lambda node: -tree.probs[node][tree.tokens[node]])[:1]
    )


def _breadth_first(tree, order):
    kept, waiting = [ROOT], deque([ROOT])
    while waiting:
        children = order(list(tree.children(waiting.popleft())))
        kept += children
        waiting += children
    return kept
