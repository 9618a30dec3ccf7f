"""Tells near ties from faults: a fork is explained only by a token within the measured noise of the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..observations.answers import Fork, by_arm, forks
from .base import Case


def noise_of(case: Case) -> float:
    """The largest difference of a top-two gap between plain passes of different shape, logits; NaN if not measured.

    Every verify width of the suite must have been measured where the target can be asked for one, the same again where
    it cannot, and answers alone beside answers in a batch; whatever else was, such as the candidate's own width, counts
    as well.
    """
    replays = case.observed("replays")
    if not replays or not replays["noise"]["positions"]:
        return math.nan
    logits = replays["noise"]["logits"]
    widths = [f"width {width}" for width in case.suite.noise.widths]
    shapes = {*(["again"] if case.kind == "server" else widths), "alone", *logits}
    found = [math.nan if (value := logits.get(shape)) is None else float(value) for shape in shapes]
    return math.nan if any(map(math.isnan, found)) else max(found)


def tolerance(case: Case) -> float:
    """The margin up to which a token counts as tied with the best, in logits."""
    return case.suite.noise.fork_multiple * noise_of(case)


def explained(fork: Fork, wanted: Sequence[int], replay: Mapping[str, Any], limit: float) -> bool:
    """Whether every token of the forked answer is, on its own prefix, within `limit` of the plain arm's best.

    An answer that merely ends too early or goes on too long is never explained. A NaN explains nothing.
    """
    if fork.at >= min(len(wanted), len(fork.tokens)):
        return False
    return all(margin is not None and margin <= limit for margin in replay["margin"])


def untold(fork: Fork, wanted: Sequence[int], replay: Mapping[str, Any], limit: float) -> bool:
    """Whether a kept baseline leaves open if noise explains a fork: it was not asked about the tokens from there on.

    Where it was surer of its own token than the limit, no other one is near, and the fork is no near tie whatever the
    candidate chose.
    """
    if fork.at >= min(len(wanted), len(fork.tokens)) or None not in replay["margin"]:
        return False
    gap = replay["gap"][fork.at]
    return (gap is None or gap <= limit) and all(margin <= limit for margin in replay["margin"] if margin is not None)


def excused(case: Case) -> frozenset[tuple[str, str]]:
    """(canary, label) of a greedy cell's timed answers that forked at near ties only: no evidence either way.

    Beside a kept baseline: that forked at a near tie, and are not known to be wrong behind it.
    """
    forked = {(fork.canary, fork.label) for fork in forks(case.observed("pairs"))}
    return frozenset(forked - {(fork.canary, fork.label) for fork in unexplained(case)})


def unexplained(case: Case) -> list[Fork]:
    """The forks of a greedy cell's timed answers that the measured noise does not explain."""
    return [fork for fork, found in _judged(case) if not found.explained and not found.untold]


def undecided(case: Case) -> list[Fork]:
    """The forks of a greedy cell's timed answers that a kept baseline can neither explain nor blame."""
    return [fork for fork, found in _judged(case) if found.untold]


class _Judged(NamedTuple):
    """What is known of one fork."""

    explained: bool
    untold: bool


def _judged(case: Case) -> Iterator[tuple[Fork, _Judged]]:
    pairs, limit = case.observed("pairs"), tolerance(case)
    wanted = {a.canary: a.generation.tokens for a in by_arm(pairs, "baseline") if a.repeat == 0}
    for fork, replay in zip(forks(pairs), case.observed("replays")["candidate"], strict=True):
        found = (fork, wanted[fork.canary], replay, limit)
        yield fork, _Judged(explained(*found), case.kept and untold(*found))
